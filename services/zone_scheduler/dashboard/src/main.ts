// The frame around all pages: navigation, theme, and which page is shown. A page is a function that fills an element and
// stops its timers and listeners when its signal aborts.
import "./style.css";
import { get, Refusal, type WhoAmI } from "./api";
import { applicationPage } from "./application";
import { applicationsPage } from "./applications";
import { h, problem } from "./dom";
import { federationPage } from "./federation";
import { ganttPage } from "./gantt_page";
import { banner, onEvent } from "./live";
import { overviewPage } from "./overview";
import { profilePage, profilesPage } from "./profiles";
import { submitPage } from "./submit";

type Page = (main: HTMLElement, signal: AbortSignal, id: string) => Promise<void>;

const kPages: { path: string; title: string; inMenu: boolean; show: Page }[] = [
  { path: "", title: "Overview", inMenu: true, show: overviewPage },
  { path: "applications", title: "Applications", inMenu: true, show: applicationsPage },
  { path: "application", title: "Application", inMenu: false, show: applicationPage },
  { path: "gantt", title: "Schedule", inMenu: true, show: ganttPage },
  { path: "federation", title: "Federation", inMenu: true, show: federationPage },
  { path: "submit", title: "Submit", inMenu: true, show: submitPage },
  { path: "profiles", title: "Profiles", inMenu: true, show: profilesPage },
  { path: "profile", title: "Profile", inMenu: false, show: profilePage },
];

const main = h("main", { id: "content", tabindex: -1 });
const links = kPages.filter((page) => page.inMenu).map((page) => h("a", { href: `#/${page.path}` }, page.title));
let shown: AbortController | undefined;

async function show(moveFocus: boolean): Promise<void> {
  const [, path = "", id = ""] = location.hash.split("/");
  const page = kPages.find((candidate) => candidate.path === path) ?? kPages[0]!;
  shown?.abort();
  shown = new AbortController();
  const { signal } = shown;
  document.title = `${page.title} - ZBS`;
  for (const item of links) {
    const target = item.getAttribute("href")!.slice(2);
    if (target === page.path || (target !== "" && target === `${page.path}s`)) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
  const room = h("div");
  main.replaceChildren(h("h1", {}, page.title), room);
  main.setAttribute("aria-busy", "true");
  if (moveFocus) main.focus();
  try {
    await page.show(room, signal, /^[0-9A-Za-z]{26}$/.test(id) ? id : "");
  } catch (fault) {
    if (signal.aborted) return;
    room.replaceChildren(problem(fault));
    onEvent(signal, (event) => event === undefined && void show(false)); // the zone is there again
  }
  if (!signal.aborted) main.setAttribute("aria-busy", "false");
}

function themeButton(): HTMLElement {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset["theme"] ?? (system.matches ? "dark" : "light")) === "dark";
  const button = h("button", { type: "button" });
  const label = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    localStorage.setItem("theme", root.dataset["theme"]);
    label();
    dispatchEvent(new Event("theme"));
  });
  const kept = localStorage.getItem("theme");
  if (kept === "dark" || kept === "light") root.dataset["theme"] = kept;
  label();
  system.addEventListener("change", label);
  return button;
}

async function start(): Promise<void> {
  let who: WhoAmI;
  try {
    who = await get<WhoAmI>("v1/whoami");
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    // The plain page stays: name and state of the zone are on it.
    const text = "To see applications, open this zone with 'zbs dashboard', which uses your own certificate, or install the certificate in your browser.";
    document.querySelector("main")?.append(h("p", { class: "note" }, text), fault.status === 401 ? "" : problem(fault));
    return;
  }
  const zone = who.zone.split("/").pop() ?? "";
  document.getElementById("page")!.replaceWith(
    h("a", { class: "skip", href: "#content", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to content"),
    h("header", {}, h("strong", {}, `ZBS ${zone}`), h("nav", { "aria-label": "Pages" }, links),
      h("span", { class: "quiet" }, who.name.replace(/^spiffe:\/\//, "")), themeButton()),
    banner, main);
  addEventListener("hashchange", () => void show(true));
  await show(false);
}

void start();
