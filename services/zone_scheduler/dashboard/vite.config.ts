import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // also right behind `zbs dashboard`
  build: {
    assetsInlineLimit: 0, // the content security policy takes scripts and styles from files of the zone only
    modulePreload: false,
    target: "es2022",
  },
});
