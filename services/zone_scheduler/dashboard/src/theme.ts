// Light and dark: what follows style sheets changes by itself; canvases need a notification.

/** Calls `repaint` when the colours change, by the system or by the button, until `signal` aborts. */
export function onTheme(signal: AbortSignal, repaint: () => void): void {
  addEventListener("theme", repaint, { signal });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
}
