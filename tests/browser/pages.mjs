// Cases: each gets a page of its own, without what earlier ones have stored, that is let in already. Usage: node pages.mjs JSON [names]
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const known = JSON.parse(process.argv[2]);
const [, part, parts] = /^(\d+)\/(\d+)$/.exec(process.argv[3]) ?? []; // of so many, each has another share of the cases
const wanted = part ? [] : process.argv.slice(3);
const require = createRequire(join(known.modules, "..", "pages.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const base = new URL(known.address).origin;
const kPages = ["", "applications", `application/${known.done}`, "gantt", "federation", "submit", "profiles", `profile/${known.profile}`];

async function settled(page) {
  await page.waitForSelector("main[aria-busy=false]");
}
async function open(page, path) {
  await page.goto(`${base}/#/${path}`);
  await settled(page);
}
async function keep(page, name) {
  if (process.env.ZBS_SCREENSHOTS) await page.screenshot({ path: join(process.env.ZBS_SCREENSHOTS, `${name}.png`), fullPage: true });
}
/** Submits without the page; its id. */
async function submit(page, argv) {
  const { name } = await (await page.request.get(`${base}/v1/whoami`)).json();
  const mark = createHash("sha256").update(name).digest("hex").slice(0, 8);
  let number = BigInt(`0x${Date.now().toString(16)}${randomBytes(6).toString("hex")}${mark}`), id = "";
  for (let i = 0; i < 26; i++, number /= 32n) id = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[Number(number % 32n)] + id;
  const reply = await page.request.post(`${base}/v1/applications`, { data: { id, ranks: 1, argv, directory: "/tmp", walltime_s: 600, mapper: "hier", zones: [] } });
  assert.ok(reply.ok(), await reply.text());
  return id;
}
/** A page that asks for nothing by the clock: what it shows anew, it shows because of an event. */
async function openWithoutPolling(page, path) {
  await page.addInitScript(() => { window.setInterval = () => 0; });
  await page.goto(`${base}/#/${path}`);
  await page.reload();
  await settled(page);
}
/** Pid of the home zone. */
function zone() {
  return Number(readdirSync("/proc").find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return argv[0].endsWith("/zbs-zone") && argv.includes(`${known.folder}/state/a.toml`);
    } catch {
      return false; // it has just ended
    }
  }));
}
const text = (page, selector) => page.locator(selector).innerText();

const cases = {
  async "every page has its heading, no fault, and asks this zone only"(page, seen) {
    for (const path of kPages) {
      await open(page, path);
      assert.match(await text(page, "h1"), /\w/, path);
      assert.equal(await page.locator(".problem").count(), 0, `${path}: ${await page.locator("main").innerText()}`);
      await keep(page, `page-${path.split("/")[0] || "overview"}`);
    }
    assert.deepEqual([...seen.hosts], [new URL(base).host]);
  },

  async "the overview and the list show applications and their states"(page) {
    await open(page, "");
    assert.match(await text(page, "main"), /Processors in use\s+[1-9]\d* of \d+/);
    await open(page, "applications");
    await page.locator("tbody tr").nth(1).waitFor();
    assert.equal(await page.locator("tbody tr").count(), 3);
    await page.getByLabel("Show only").fill("running");
    assert.equal(await page.locator("tbody tr").count(), 1);
    await page.getByRole("link", { name: "sleep" }).click();
    await settled(page);
    assert.match(page.url(), new RegExp(known.runs));
  },

  async "names with markup, quotes and control characters are text"(page) {
    page.on("dialog", () => assert.fail("a name ran as a script"));
    await open(page, `application/${known.done}`);
    const facts = await text(page, "dl.facts >> nth=0");
    assert.ok(facts.includes(`<b>job & 'co'.sh <img src=x onerror=alert(1)>"'\`&amp;\ufffd\ufffd\${7*7}`), facts);
    await page.getByText("<script>alert(2)</script>").waitFor();
    assert.equal(await page.locator("main img, main b, main script, main i").count(), 0);
    await open(page, `profile/${known.profile}`);
    assert.ok((await text(page, "dl.facts >> nth=0")).includes("/opt/<i>ring</i>"));
    assert.equal(await page.locator("main i").count(), 0);
  },

  async "an application tells plan, zones, timeline, output and reasons"(page) {
    await open(page, `application/${known.done}`);
    const heads = await page.locator("h2").allInnerTexts();
    for (const head of ["Zones", "Timeline", "Plan", "Communication", "Output", "Why it is where it is"]) assert.ok(heads.includes(head), `${head} in ${heads}`);
    const states = await page.locator(".timeline .badge").allInnerTexts();
    assert.deepEqual([states[0], states.at(-1)], ["accepted", "completed"]);
    assert.equal(await page.getByRole("button", { name: "Cancel" }).count(), 0);
    await open(page, `application/${known.runs}`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "No", exact: true }).click();
    assert.equal(await page.locator("dialog[open]").count(), 0);
  },

  async "a new application and its end show without a reload"(page) {
    await open(page, "submit");
    await page.getByLabel("Program and arguments").fill('/bin/sh -c "echo \'<u>live</u>\'; sleep 1"');
    await page.getByLabel("Working folder").fill("/tmp");
    await page.getByLabel("Ranks").fill("2");
    assert.ok(await page.getByRole("button", { name: "Submit this" }).isDisabled());
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByText("The plan as of now").waitFor();
    assert.ok((await page.getByRole("region", { name: "Clusters" }).innerText()).includes("0-1"));
    await page.getByLabel("Ranks").fill("1");
    assert.ok(await page.getByRole("button", { name: "Submit this" }).isDisabled(), "the plan is not of this");
    await page.getByLabel("Ranks").fill("2");
    await page.getByRole("button", { name: "Submit this" }).click();
    await page.locator(".note a").click();
    await page.locator(".timeline").getByText("completed").waitFor();
    await page.locator("pre").getByText("<u>live</u>").first().waitFor();
  },

  async "the list and the overview follow events, not the clock"(page) {
    for (const path of ["applications", ""]) {
      await openWithoutPolling(page, path);
      const id = await submit(page, ["/bin/sleep", "2"]);
      const row = page.locator(".applications tbody tr").filter({ has: page.locator(`a[href="#/application/${id}"]`) });
      await row.getByText("running").waitFor({ timeout: 15_000 });
      await row.getByText("completed").waitFor({ timeout: 15_000 });
    }
  },

  async "a zone that was killed and is back is heard again, and what was missed is shown"(page, seen) {
    await openWithoutPolling(page, "applications");
    const banner = page.getByText("connection to the zone is lost, trying again");
    assert.equal(await banner.count(), 0);
    for (const end = Date.now() + 30_000; (await banner.count()) === 0 && Date.now() < end; await page.waitForTimeout(200)) {
      const pid = zone();
      if (pid) process.kill(pid, "SIGKILL"); // it is started again at once; here it is away for some time
    }
    assert.equal(await banner.count(), 1);
    await keep(page, "connection-lost");
    await banner.waitFor({ state: "detached", timeout: 40_000 });
    const id = await submit(page, ["/bin/sleep", "1"]);
    const row = page.locator(".applications tbody tr").filter({ has: page.locator(`a[href="#/application/${id}"]`) });
    await row.getByText("completed").waitFor({ timeout: 30_000 });
    seen.faults.length = 0; // the outage itself
  },

  async "a bad request is reported in the zone's words"(page, seen) {
    await open(page, "submit");
    await page.getByLabel("Program and arguments").fill("/bin/true");
    await page.getByLabel("Working folder").fill("/tmp");
    await page.getByLabel("Only these zones").fill("no-such-zone");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("alert").getByText("zone 'no-such-zone' is not known here").waitFor();
    assert.ok(await page.getByRole("button", { name: "Submit this" }).isDisabled());
    seen.faults.length = 0; // the refusal itself
  },

  async "the schedule shows running work, moves by keys and tells what a bar is"(page) {
    await open(page, "gantt");
    const canvas = page.getByRole("application", { name: "Work by processor over time" });
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) >= 5);
    const picture = () => canvas.evaluate((element) => element.toDataURL());
    const first = await picture();
    await canvas.focus();
    await page.keyboard.press("+");
    await page.waitForFunction((before) => document.querySelector("canvas").toDataURL() !== before, first);
    const zoomed = await picture();
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction((before) => document.querySelector("canvas").toDataURL() !== before, zoomed);
    await page.keyboard.press("Home");
    // Somewhere in the middle of the chart one of the first rows is busy.
    const box = await canvas.boundingBox();
    let found = "";
    for (let row = 0; row < 12 && !found.includes("sleep"); row++) {
      await page.mouse.click(box.x + box.width * 0.6, box.y + 24 + 14 + row * 28);
      found = await page.locator("main").getByRole("status").innerText();
    }
    assert.match(found, /sleep, rank \d, running/);
  },

  async "bars are reached by keyboard, announced, opened, and listed in a table"(page) {
    await open(page, "gantt");
    const canvas = page.getByRole("application", { name: "Work by processor over time" });
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) >= 5);
    await canvas.focus();
    const said = () => page.getByRole("status").filter({ hasText: / to / }).innerText();
    const seen = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("ArrowRight");
      seen.push(await said());
    }
    assert.equal(new Set(seen).size, 3, seen.join(" | "));
    await page.keyboard.press("ArrowLeft");
    assert.equal(await said(), seen[1]);
    await page.keyboard.press("ArrowDown");
    assert.notEqual((await said()).split(":")[1], seen[1].split(":")[1], "another row");
    await page.keyboard.press("Home");
    await page.getByText("What is in view, as a table").click();
    const list = page.getByRole("region", { name: "Bars in view" });
    await list.waitFor();
    await list.locator("tbody tr").nth(4).waitFor();
    assert.match(await list.innerText(), /sleep, rank \d\s+running/);
    await canvas.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/application\//);
  },

  async "a press on a shared processor chooses the bar of its lane, and parts elsewhere have lanes of their zone"(page) {
    const now = Date.now() * 1000;
    const id = (n) => `01J9Z3V7Q0ABCDEFGHJKMNPQR${n}`;
    const one = (n, program, zone, from, to) => ({
      id: id(n), state: "completed", ranks: 2, program, zones: [zone], reason: "", submitted_us: now - from * 1e6, argv: [program], directory: "/", walltime_s: 60, mapper: "hier", cancel_requested: false,
      history: [{ state: "accepted", at_us: now - from * 1e6 }, { state: "running", at_us: now - from * 1e6 }, { state: "completed", at_us: now - to * 1e6 }],
      parts: [{ id: id(n), zone, ranks: [0, 1], state: "completed", reason: "", assignment: [{ rank: 0, machine: zone === "a" ? "m" : "n0", processor: 0 }, { rank: 1, machine: zone === "a" ? "m" : "n0", processor: 1 }] }] });
    const list = [one(1, "/first", "a", 100, 10), one(2, "/second", "a", 100, 10), one(3, "/third", "b", 100, 10), one(4, "/fourth", "b", 90, 20), one(5, "/fifth", "b", 9, 1)];
    await page.route("**/v1/nodes", (route) => route.fulfill({ json: { zone: "a", organisation: "org-a", agents: [], nodes: [{ name: "m", processors: 2, used: 0, speed: 1 }] } }));
    await page.route("**/v1/queue?*", (route) => route.fulfill({ json: { parts: [], ended: [] } }));
    await page.route("**/v1/applications?*", (route) => route.fulfill({ json: { applications: list, next: id(1) } }));
    await page.route("**/v1/applications/0*", (route) => route.fulfill({ json: list.find((known) => route.request().url().endsWith(known.id)) }));
    await open(page, "gantt");
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) === 7);
    await page.getByText("What is in view, as a table").click();
    const rows = page.getByRole("region", { name: "Bars in view" }).locator("tbody tr");
    await rows.nth(6).waitFor();
    const cells = await rows.evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)));
    assert.deepEqual(cells.slice(4), [["zone b, part 1", "third, ranks 0-1"], ["zone b, part 1", "fifth, ranks 0-1"], ["zone b, part 2", "fourth, ranks 0-1"]]);
    const box = await page.locator("canvas").boundingBox();
    const messages = [];
    for (const y of [24 + 6, 24 + 20]) {
      await page.mouse.click(box.x + box.width / 2, box.y + y);
      messages.push(await page.getByRole("status").filter({ hasText: / to / }).innerText());
    }
    assert.match(messages[0], /^a\/m:0: first, /);
    assert.match(messages[1], /^a\/m:0: second, /);
    assert.match(await text(page, "#cut"), /Only the newest 5 applications are drawn/);
  },

  async "a chart that waits for its figures shows no time"(page) {
    let answer;
    await page.route("**/v1/queue?*", (route) => new Promise((done) => (answer = () => done(route.continue()))));
    await page.goto(`${base}/#/gantt`);
    await page.locator("canvas").waitFor({ state: "attached" });
    await page.waitForTimeout(300);
    const painted = () => page.locator("canvas").evaluate((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0));
    assert.equal(await painted(), false);
    answer();
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) >= 1);
    assert.equal(await painted(), true);
  },

  async "what is typed is split as a shell does, shown, and refused where a quote is open"(page) {
    await open(page, "submit");
    const command = page.getByLabel("Program and arguments");
    await page.getByLabel("Working folder").fill("/tmp");
    for (const [typed, fault] of [["/bin/echo it's fine", "A ' is never closed"], ['/bin/echo "no end', 'A " is never closed'], ["/bin/echo end\\", "Nothing follows the last \\"]]) {
      await command.fill(typed);
      assert.ok((await page.locator("#command-fault").innerText()).includes(fault), typed);
      await page.getByRole("button", { name: "Show the plan" }).click();
      assert.equal(await page.getByText("The plan as of now").count(), 0);
    }
    await command.fill(`/bin/echo it\\'s 'a b'c "d \\"e\\" \\n" f\\ g ''`);
    assert.equal(await page.locator("#command-fault").innerText(), "");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByText("The plan as of now").waitFor();
    assert.deepEqual(await page.locator(".argv code").allInnerTexts(), ["/bin/echo", "it's", "a bc", 'd "e" \\n', "f g", "(empty)"]);
    await keep(page, "submit-plan");
  },

  async "ranks are shown as ranges whatever order they come in"(page) {
    await page.route("**/v1/applications?dry_run=true", async (route) => {
      const plan = await (await route.fetch()).json();
      await route.fulfill({ json: { ...plan, clusters: [[7, 3, 0, 2, 4, 10]], zone_of_cluster: ["a"] } });
    });
    await open(page, "submit");
    await page.getByLabel("Working folder").fill("/tmp");
    await page.getByLabel("Program and arguments").fill("/bin/true");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByText("The plan as of now").waitFor();
    assert.deepEqual(await page.locator(".clusters tbody td").allInnerTexts(), ["0", "0, 2-4, 7, 10", "a"]);
  },

  async "the list is sorted by its heads and given away as CSV and JSON"(page) {
    const row = (n, more) => ({ id: `01J9Z3V7Q0ABCDEFGHJKMNPQR${n}`, state: "completed", ranks: n, program: `/p${n}`, zones: ["a"], reason: "", submitted_us: 1.8e15 + n, ...more });
    await page.route("**/v1/applications?*", (route) => route.fulfill({ json: { applications: [row(3, { owner: "spiffe://org-a/user/ann", name: '=1+1,"x"' }), row(2, { ranks: 20 }), row(1)] } }));
    await open(page, "applications");
    const column = (i) => page.locator(".applications tbody tr").evaluateAll((rows, at) => rows.map((one) => one.cells[at].textContent), i);
    assert.deepEqual(await page.getByRole("columnheader").allInnerTexts().then((heads) => heads.map((head) => head.replace(/\W/g, ""))), ["Program", "Name", "Owner", "State", "Ranks", "Zones", "Submitted", "Exit", "Reason"]);
    assert.deepEqual(await column(0), ["p3", "p2", "p1"]);
    await page.getByRole("button", { name: "Ranks" }).click();
    assert.deepEqual(await column(4), ["1", "3", "20"]);
    assert.equal(await page.evaluate(() => document.activeElement.textContent.trim().split(" ")[0]), "Ranks", "the focus stays");
    await page.getByRole("button", { name: "Ranks" }).click();
    assert.deepEqual(await column(4), ["20", "3", "1"]);
    assert.equal(await page.getByRole("columnheader", { name: "Ranks" }).getAttribute("aria-sort"), "descending");
    await page.getByLabel("Show only").fill("ann");
    const file = async (name) => {
      const [got] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return readFileSync(await got.path(), "utf8");
    };
    const csv = (await file("CSV")).split("\r\n");
    assert.equal(csv[0], "Id,Program,Name,Owner,State,Ranks,Zones,Submitted,Exit,Reason");
    assert.ok(csv[1].startsWith(`01J9Z3V7Q0ABCDEFGHJKMNPQR3,/p3,"'=1+1,""x""",org-a/user/ann,completed,3,a,2027-`), csv[1]);
    assert.deepEqual(JSON.parse(await file("JSON")).applications.map((one) => one.ranks), [3]);
  },

  async "older ones that were loaded stay where they belong when the newest come anew, whatever their ids"(page) {
    const row = (letter, second) => ({ id: `01J9Z3V7Q0ABCDEFGHJKMNPQ${letter}Z`, state: "completed", ranks: 1, program: `/p${second}`, zones: ["a"], reason: "", submitted_us: 1.8e15 + second });
    const all = [row("A", 4), row("B", 3), row("C", 2), row("D", 1)]; // the oldest has the largest id
    let reason = "";
    await page.route("**/v1/applications?*", (route) => {
      const isOlder = new URL(route.request().url()).searchParams.get("after") === "place-2";
      return route.fulfill({ json: isOlder ? { applications: all.slice(2) } : { applications: all.slice(0, 2).map((one) => ({ ...one, reason })), next: "place-2" } });
    });
    await openWithoutPolling(page, "applications");
    const programs = () => page.locator(".applications tbody tr").evaluateAll((rows) => rows.map((one) => one.cells[0].textContent));
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByText("4 of 4").waitFor();
    reason = "anew";
    await submit(page, ["/bin/true"]); // its events bring the newest anew
    await page.getByText("anew").first().waitFor();
    assert.deepEqual(await programs(), ["p4", "p3", "p2", "p1"]);
  },

  async "the overview counts, shows the utilisation, peers and waits"(page) {
    await open(page, "");
    await settled(page);
    assert.match(await text(page, "main"), /Counted of all/); // the zone's own counts
    await page.route("**/v1/applications/counts", (route) => route.fulfill({ json: { counts: { running: 1234, planned: 6, completed: 99999 } } }));
    await open(page, "");
    await page.reload();
    await settled(page);
    const states = await page.getByRole("list", { name: "Applications by state" }).innerText();
    assert.match(states, /running\s+1234\s+planned\s+6\s+completed\s+99999/);
    assert.match(await text(page, "main"), /Counted of all/);
    assert.match(await page.getByRole("img", { name: /Utilisation: \d+ % now/ }).getAttribute("aria-label"), /now/);
    assert.equal(await page.getByRole("region", { name: "Peers" }).locator("tbody tr").count(), 2);
    assert.match(await text(page, "main"), /Median\s+[\d.]+ \w+[\s\S]*90 % waited at most/);
    await page.unroute("**/v1/applications/counts");
  },

  async "parts that share processors are shown by slice"(page) {
    const change = (path, edit) => page.route(path, async (route) => {
      const reply = await route.fetch();
      const json = await reply.json();
      edit(json);
      await route.fulfill({ json });
    });
    const part = (application, slice, state) => ({ part: application, application, home: `home${slice}`, ranks: 2, state, walltime_s: 60, slice, places: [["m10", 0], ["m9", 1]] });
    await change("**/v1/nodes", (nodes) => Object.assign(nodes, { sharing: "turns", slices: 3 }));
    await change("**/v1/queue?*", (queue) => (queue.parts = [part("01J9Z3V7Q0ABCDEFGHJKMNPQR1", 0, "running"), part("01J9Z3V7Q0ABCDEFGHJKMNPQR2", 2, "held")]));
    await open(page, "gantt");
    const matrix = page.getByRole("region", { name: "Slice matrix" });
    await matrix.waitFor();
    assert.deepEqual(await matrix.getByRole("row").allInnerTexts().then((rows) => rows.map((row) => row.split(/\t/).map((cell) => cell.trim()))),
      [["Processor", "Slice 1", "Slice 2", "Slice 3"], ["m9:1", "home0, MNPQR1", "-", "home2, MNPQR2 (held)"], ["m10:0", "home0, MNPQR1", "-", "home2, MNPQR2 (held)"]]);
  },

  async "what waits in the queue is drawn where processors are free soonest, and what guests ran is past"(page) {
    const waits = "01J9Z3V7Q0ABCDEFGHJKMNPQR3", guest = "01J9Z3V7Q0ABCDEFGHJKMNPQR4";
    const now = Date.now() * 1000;
    const row = (id, more) => ({ part: id, application: id, home: "b", ranks: 2, walltime_s: 60, places: [], ...more });
    await page.route("**/v1/applications?*", (route) => route.fulfill({ json: { applications: [] } }));
    await page.route("**/v1/nodes", (route) => route.fulfill({ json: { zone: "a", organisation: "org-a", agents: [], nodes: [{ name: "m", processors: 3, used: 1, speed: 1 }] } }));
    const asked = [];
    await page.route("**/v1/queue?*", (route) => {
      asked.push(new URL(route.request().url()).searchParams.get("ended_after"));
      return route.fulfill({ json: {
        parts: [row("01J9Z3V7Q0ABCDEFGHJKMNPQR5", { ranks: 1, state: "running", start_us: now - 1e7, places: [["m", 0]] }), row(waits, { state: "committed", queue: { place: 1, start_in_s: 5, promised_in_s: 40 } })],
        ended: asked.length > 1 ? [] : [row(guest, { state: "completed", start_us: now - 3e8, end_us: now - 2e8, places: [["m", 1], ["m", 2]] })] } });
    });
    await open(page, "gantt");
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) === 5); // one runs, two past, two wait
    assert.match(await page.getByRole("region", { name: "Reservations" }).innerText(), /in its turn, at place 1, about /);
    assert.equal(asked[0], "0");
    const canvas = page.getByRole("application", { name: "Work by processor over time" });
    const box = await canvas.boundingBox();
    const messages = [];
    for (const share of [0.5, 0.9, 0.95]) for (let line = 0; line < 3; line++) {
      await page.mouse.click(box.x + box.width * share, box.y + 24 + 14 + line * 28);
      messages.push(await page.locator("main").getByRole("status").innerText());
    }
    assert.ok(messages.some((text) => /waits in the queue at place 1/.test(text)), messages.join(" | "));
  },

  async "an expected start counts from the time of the plan"(page) {
    const planned = 1_800_000_000_000_000;
    await page.route(`**/v1/applications/${known.runs}`, async (route) => {
      const reply = await route.fetch();
      const json = await reply.json();
      Object.assign(json.plan, { start_in_s: 304, queued: true });
      json.history = [{ state: "planned", at_us: 1 }, { state: "planned", at_us: planned }, { state: "held", at_us: planned }, { state: "committed", at_us: planned },
        { state: "planned", at_us: planned + 1e9 }, { state: "committed", at_us: planned + 1e9 }];
      await route.fulfill({ json });
    });
    await open(page, `application/${known.runs}`);
    const facts = await text(page, "dl.facts >> nth=1");
    const when = await page.evaluate((us) => new Date(us / 1000).toLocaleString(), planned);
    assert.ok(facts.includes(`in 5 min 4 s, as of ${when}, in its turn`), facts);
  },

  async "100,000 bars are drawn within a frame or two"(page) {
    const list = [], details = new Map();
    const start = Date.now() * 1000 - 1e12;
    for (let i = 0; i < 200; i++) {
      const id = `0${String(i).padStart(25, "0")}`;
      const summary = { id, state: "completed", ranks: 500, program: `/p${i}`, zones: ["a"], reason: "", submitted_us: start };
      list.push(summary);
      const begin = start + i * 5e9;
      details.set(id, { ...summary, argv: ["/p"], directory: "/", walltime_s: 60, mapper: "hier", cancel_requested: false,
        history: [{ state: "accepted", at_us: begin }, { state: "running", at_us: begin + 1e6 }, { state: "completed", at_us: begin + 4e9 }],
        parts: [{ id, zone: "a", ranks: [], state: "completed", reason: "", assignment: Array.from({ length: 500 }, (_, rank) => ({ rank, machine: "m", processor: rank })) }] });
    }
    await page.route("**/v1/applications?*", (route) => route.fulfill({ json: { applications: list } }));
    await page.route("**/v1/applications/0*", (route) => route.fulfill({ json: details.get(route.request().url().split("/").pop()) }));
    await open(page, "gantt");
    const canvas = page.getByRole("application", { name: "Work by processor over time" });
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) > 100);
    await canvas.focus();
    const times = [];
    for (const key of ["+", "ArrowRight", "-", "ArrowDown", "-", "ArrowDown", "Home"]) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      times.push(Number(await canvas.getAttribute("data-ms")));
    }
    console.log(`    drawn in ${times.join(", ")} ms`);
    // Only the rows in sight were drawn, 200 bars each; and far away no more than a few bars for each pixel of them.
    const bars = async () => Number(await canvas.getAttribute("data-bars"));
    assert.ok(await bars() < 6000, `${await bars()}`);
    for (let i = 0; i < 13; i++) await page.keyboard.press("-");
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars) < 29 * 40);
  },

  async "traffic is a picture, before and after, with what crosses zones"(page) {
    await open(page, `profile/${known.profile}`);
    await page.waitForFunction(() => document.querySelector("canvas").dataset.side > 0);
    const colours = await page.locator("canvas").first().evaluate((canvas) => {
      const { left, top, side } = canvas.dataset;
      const pixel = (x, y) => [...canvas.getContext("2d").getImageData(Number(left) + ((x + 0.5) * side) / 6, Number(top) + ((y + 0.5) * side) / 6, 1, 1).data].join();
      return [pixel(1, 0) === pixel(0, 1), pixel(1, 0) !== pixel(5, 0), pixel(1, 2) !== pixel(2, 3), pixel(0, 0) === pixel(5, 5)];
    });
    assert.deepEqual(colours, [true, true, true, true]);
    assert.match(await text(page, ".legend"), /none[\s\S]*1\.9 MiB/);
  },

  async "an application over two zones shows what crosses them, with their blocks"(page) {
    await open(page, `application/${known.spread}`);
    await page.locator("figcaption").nth(1).waitFor();
    const captions = await page.locator("figcaption").allInnerTexts();
    assert.match(captions[0], /By rank: 3.8 MiB between 6 ranks/);
    assert.match(captions[1], /Zone by zone \(\w, \w\): [\d.]+ \w+ cross zones/);
    const [before, after] = await page.locator("figure canvas").evaluateAll((all) => all.map((one) => one.toDataURL()));
    assert.notEqual(before, after);
    // Zone by zone: cells have one colour from edge to edge, and a line of another stands between the zones, one pixel wide and whole.
    const after2 = page.locator("figure canvas.heat").nth(1);
    const seen = await after2.evaluate((canvas) => {
      const { left, top, side } = Object.fromEntries(Object.entries(canvas.dataset).map(([name, value]) => [name, Number(value)]));
      const pixels = canvas.getContext("2d").getImageData(left, top, side, side).data;
      const at = (x, y) => pixels.slice(4 * (y * side + x), 4 * (y * side + x) + 3).join();
      const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
      const line = [1, 3, 5].map((i) => parseInt(accent.slice(i, i + 2), 16)).join();
      const all = Array.from({ length: side }, (_, i) => i);
      const columns = all.filter((x) => all.every((y) => at(x, y) === line)), rows = all.filter((y) => all.every((x) => at(x, y) === line));
      const colours = new Set();
      for (let x = 0; x < side; x++) for (let y = 0; y < side; y++) colours.add(at(x, y));
      return { columns, rows, edges: [1, 2, 3, 4, 5].map((i) => Math.round((i * side) / 6)), colours: [...colours] };
    });
    assert.ok(seen.columns.length === 1 && seen.edges.includes(seen.columns[0]), JSON.stringify(seen));
    assert.deepEqual(seen.rows, seen.columns);
    assert.equal(seen.colours.length, 4, `no traffic, two weights and the line; nothing between: ${JSON.stringify(seen.colours)}`);
    const zones = await page.getByRole("region", { name: "Parts" }).locator("tbody tr").count();
    assert.equal(zones, 2);
  },

  async "the federation shows three zones and their delays"(page) {
    await open(page, "federation");
    assert.equal(await page.getByRole("columnheader", { name: "Lease until" }).count(), 1);
    assert.equal(await page.getByText("not told").count(), 0);
    // A lease is renewed again and again: it ends in the future, and ever later.
    const leases = async () => (await (await page.request.get(`${base}/v1/peerings`)).json()).peers.map((peer) => peer.leased_until_us / 1000);
    const before = await leases();
    assert.ok(before.length >= 2 && before.every((until) => until > Date.now()), `${before} at ${Date.now()}`);
    const later = page.waitForFunction((old) => fetch("v1/peerings").then((reply) => reply.json()).then(({ peers }) => peers.every((peer, i) => peer.leased_until_us / 1000 > old[i])), before, { timeout: 45_000, polling: 1000 });
    await later;
    assert.deepEqual((await page.locator("svg.map circle").count()), 3);
    assert.equal(await page.locator("svg.map line.ok").count(), 2);
    assert.match(await text(page, "main"), /accepted/);
  },

  async "everything is reached by keyboard"(page) {
    await page.reload();
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Applications");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Applications", level: 1 }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  },

  async "dark and light follow the system and a button"(page) {
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: "dark" });
    await open(page, "");
    const dark = await back();
    await page.emulateMedia({ colorScheme: "light" });
    const light = await back();
    assert.notEqual(dark, light);
    await page.getByRole("button", { name: "Dark" }).click();
    assert.equal(await back(), dark);
    await page.getByRole("button", { name: "Light" }).click();
    await page.evaluate(() => { localStorage.removeItem("theme"); delete document.documentElement.dataset.theme; });
    // What is painted follows the system, too, and pictures that are gone no more.
    await page.evaluate(() => {
      const add = EventTarget.prototype.addEventListener;
      window.listening = 0;
      EventTarget.prototype.addEventListener = function (kind, act, how) {
        if (kind === "theme" || (kind === "change" && this instanceof MediaQueryList)) {
          window.listening++;
          how?.signal?.addEventListener("abort", () => window.listening--);
        }
        return add.call(this, kind, act, how);
      };
    });
    for (const path of ["gantt", `profile/${known.profile}`]) {
      await open(page, path);
      await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.bars ?? document.querySelector("canvas").dataset.side) > 0);
      const picture = () => page.locator("canvas").first().evaluate((canvas) => canvas.toDataURL());
      await page.emulateMedia({ colorScheme: "light" });
      await page.waitForTimeout(100);
      const light = await picture();
      await page.emulateMedia({ colorScheme: "dark" });
      await page.waitForTimeout(100);
      assert.notEqual(await picture(), light, path);
    }
    await open(page, "federation");
    assert.equal(await page.evaluate(() => window.listening), 0);
    await page.evaluate(() => localStorage.setItem("theme", "dark"));
    await page.reload();
    await settled(page);
    assert.equal(await back(), dark, "the choice is kept");
  },

  async "360 pixels are enough"(page) {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of kPages) {
      await open(page, path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 360, `${path || "overview"} is ${wide} wide`);
      // Nor does anything in it: a table has its rows as cards there, none of which is wider than the page.
      const sideways = await page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((one) => one.querySelector("table") && one.scrollWidth > one.clientWidth).map((one) => `${one.getAttribute("aria-label")}: ${one.scrollWidth} in ${one.clientWidth}`));
      assert.deepEqual(sideways, [], path || "overview");
      await keep(page, `narrow-${path.split("/")[0] || "overview"}`);
      // Applications are cards there, whose fields have names, and are no taller than what they hold.
      if (path === "" || path === "applications") assert.ok((await page.locator(".applications tbody tr").count()) >= 3, path);
      for (const card of await page.locator(".applications tbody tr").all()) {
        const { height, fields } = await card.evaluate((row) => ({ height: row.clientHeight, fields: [...row.cells].filter((cell) => cell.offsetHeight > 0).length }));
        assert.ok(fields >= 4 && fields < 9, `${fields} fields`);
        assert.equal(await card.evaluate((row) => getComputedStyle(row).display), "block");
        assert.ok(height < 40 * fields + 40, `${height} px for ${fields} fields`);
      }
    }
  },

  async "axe finds nothing serious, light and dark"(page) {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      // Of all rules only that of contrast depends on the colours.
      const rules = colorScheme === "light" ? {} : { runOnly: ["color-contrast"] };
      for (const path of kPages) {
        await open(page, path);
        if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe); // by the debugger, past the page's own policy
        const { violations } = await page.evaluate((options) => window.axe.run(options), { ...rules, resultTypes: ["violations"] });
        const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
        assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(" ")}`), [], `${path || "overview"}, ${colorScheme}`);
      }
    }
  },

  async "without JavaScript, and without a name, the zone still says how it is"(page, seen, browser) {
    const context = await browser.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() });
    const plain = await context.newPage();
    await plain.goto(base + "/");
    assert.match(await plain.locator("body").innerText(), /ZBS zone a[\s\S]*takes work[\s\S]*need JavaScript/);
    await context.close();
    await page.route("**/v1/whoami", (route) => route.fulfill({ status: 401, json: { detail: "who?" } }));
    await page.goto(base + "/");
    await page.getByText("zbs dashboard").waitFor();
    assert.match(await page.locator("body").innerText(), /ZBS zone a/);
    seen.faults.length = 0; // the refusal itself
  },
};

const profile = mkdtempSync(join(tmpdir(), "zbs-browser-"));
const browser = await chromium.launch({
  executablePath: known.chromium, env: { ...process.env, HOME: profile },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--process-per-site"],
});
let failed = 0;
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } }); // one: the pages' script is compiled once
  context.setDefaultTimeout(60_000);
  for (const [index, [name, run]] of Object.entries(cases).entries()) {
    if (part && index % parts !== part - 1) continue;
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    const page = await context.newPage();
    const seen = { hosts: new Set(), faults: [] };
    page.on("request", (request) => request.url().startsWith("data:") || seen.hosts.add(new URL(request.url()).host));
    page.on("response", (reply) => reply.status() >= 400 && seen.faults.push(`${reply.status()} ${reply.url()}`));
    page.on("console", (message) => message.type() === "error" && seen.faults.push(message.text()));
    page.on("pageerror", (fault) => seen.faults.push(fault.message));
    try {
      await page.goto(known.address);
      await page.waitForURL(base + "/");
      await settled(page);
      await run(page, seen, browser);
      assert.deepEqual(seen.faults, []);
      console.log(`ok   ${name}`);
    } catch (fault) {
      failed++;
      console.log(`FAIL ${name}\n${fault.stack}`);
      await keep(page, `failed-${failed}`).catch(() => {});
    }
    await page.evaluate(() => localStorage.clear()).catch(() => {});
    await page.close();
  }
  await context.close();
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
