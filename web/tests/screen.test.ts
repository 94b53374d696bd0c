// The page as somebody uses it who knows only what is on the screen: roles, labels and texts. A network is drawn from nothing, brought up, used, cut, captured, taken down and replayed, with
// keys alone and with a pointer alone (which types only where it has pressed), at three sizes at once.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { fits, launch, place as made, type Served, serve, visit } from "./real";

const SIZES = [
  [390, 844],
  [1280, 800],
  [2560, 1300],
] as const;
/** Three labs come up at once. */
const PATIENCE = 60_000;

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

before(async () => {
  place = made({});
  server = await serve(place);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
  place?.done();
});

type Role = "button" | "link";

/** How somebody does what can be done. */
interface Hand {
  press: (role: Role, name: string | RegExp) => Promise<void>;
  /** By the list of all commands. */
  command: (name: string) => Promise<void>;
  write: (label: string, text: string) => Promise<void>;
  /** Leaves a terminal. */
  leave: () => Promise<void>;
  /** Types at the end of the text of the lab file. */
  append: (text: string) => Promise<void>;
}

const keys = (page: Page): Hand => {
  const to = async (wanted: Locator, what: string): Promise<void> => {
    await wanted.waitFor();
    for (let tries = 0; tries < 120; tries += 1) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not lead to ${what}`);
  };
  const command = async (name: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(name);
    await page.getByRole("option", { name }).first().waitFor();
    await page.keyboard.press("Enter");
  };
  return {
    command,
    press: async (role, name) => {
      await to(page.getByRole(role, { name, exact: typeof name === "string" }).first(), `the ${role} ${String(name)}`);
      await page.keyboard.press("Enter");
    },
    write: async (label, text) => {
      await to(page.getByLabel(label, { exact: true }), `the field ${label}`);
      await page.keyboard.press("Control+a");
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    },
    leave: () => page.keyboard.press("Shift+F6"),
    append: async (text) => {
      await command("Go to the text");
      await page.keyboard.press("Control+End");
      await page.keyboard.type(text);
    },
  };
};

const pointer = (page: Page): Hand => ({
  press: (role, name) =>
    page
      .getByRole(role, { name, exact: typeof name === "string" })
      .first()
      .click(),
  command: async (name) => {
    await page.getByRole("button", { name: "all commands" }).click();
    await page.getByRole("option", { name }).first().click();
  },
  write: async (label, text) => {
    const field = page.getByLabel(label, { exact: true });
    await field.click({ clickCount: 3 });
    await page.keyboard.insertText(text);
  },
  leave: () => Promise.resolve(),
  append: async (text) => {
    const box = page.getByRole("textbox", { name: "text of the lab file" });
    const size = await box.boundingBox();
    assert.ok(size);
    // Below the last line is its end.
    await box.click({ position: { x: size.width / 2, y: size.height - 4 } });
    await page.keyboard.insertText(text);
  },
});

const source = async (page: Page): Promise<string> =>
  page.getByRole("textbox", { name: "text of the lab file" }).innerText();
const says = (page: Page, text: RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Waits until the text of the file is so. */
async function reads(page: Page, wanted: RegExp): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (wanted.test(await source(page))) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`${String(wanted)} is not in\n${await source(page)}`);
}

async function draw(page: Page, hand: Hand, name: string): Promise<void> {
  await hand.press("button", "New lab…");
  await hand.write("file", name);
  await hand.press("button", "Empty");
  await page.getByRole("heading", { name: `${name}.yaml` }).waitFor();
  for (const kind of ["host", "host", "host", "switch", "router"]) await hand.press("button", `+ ${kind}`);
  await reads(page, /h1: \{\}[\s\S]*h3: \{\}[\s\S]*s1: \{kind: switch\}[\s\S]*r1: \{kind: router\}/);
  const spots = [...(await source(page)).matchAll(/\w1?\d?: \[(-?[\d.]+), (-?[\d.]+)\]/g)].map(
    (match) => `${match[1]} ${match[2]}`,
  );
  assert.equal(new Set(spots).size, 5, `nodes stand on one another: ${spots.join("; ")}`);
  let number = 0;
  for (const [one, other, rate, delay] of [
    ["h1", "s1", "100 Mbit/s", "1 ms"],
    ["h2", "s1", "50 Mbit/s", "2 ms"],
    ["s1", "r1", "20 Mbit/s", "3 ms"],
    ["r1", "h3", "10 Mbit/s", "5 ms"],
  ] as const) {
    number += 1;
    // The first node before or after: who has chosen none yet joins two all the same.
    if (number === 1) await hand.command(`Show node ${one}`);
    await hand.press("button", "Join");
    await says(page, number === 1 ? /h1 is joined with the node that you choose next/ : /Choose the two nodes/);
    for (const node of number === 1 ? [other] : [one, other]) await hand.command(`Show node ${node}`);
    await reads(page, new RegExp(`l${number}: \\{ends: \\[${one}, ${other}\\]`));
    await hand.write("rate", rate);
    await hand.write("delay", delay);
    await hand.command(`Show link l${number}`);
    await reads(page, new RegExp(`l${number}: \\{ends: \\[${one}, ${other}\\], rate: ${rate}, delay: ${delay}\\}`));
  }
  // One host too many, and undone.
  await hand.press("button", "+ host");
  await reads(page, /h4/);
  await hand.press("button", "Undo");
  for (let tries = 0; /h4/.test(await source(page)); tries += 1) {
    assert.ok(tries < 100, "undo has taken nothing back");
    await page.waitForTimeout(50);
  }
  assert.match(
    await source(page),
    /h3: \{\}[\s\S]*l4: \{ends: \[r1, h3\], rate: 10 Mbit\/s, delay: 5 ms\}/,
    "undo has taken back more than the last change",
  );
  await hand.append("journal: all\n");
  await says(page, /^valid$/);
}

async function use(page: Page, hand: Hand): Promise<void> {
  await hand.press("button", "Up");
  await hand.command("Open a terminal on h1");
  const terminal = page.getByRole("textbox", { name: "terminal of h1" });
  await terminal.waitFor();
  await says(page, /root@h1|h1[^ ]*[#$]/);
  await page.keyboard.type("stty size; ping -c 2 -i 0.2 h3\n");
  await says(page, /2 packets transmitted, 2 received/);
  const size = /\n(\d+) (\d+)\n/.exec(await page.getByRole("region", { name: "terminals" }).innerText());
  assert.ok(size && size[0] !== "\n24 80\n", `the program sees a terminal of ${String(size?.[0])}`);
  await page.getByRole("tab", { name: "h1", exact: true }).waitFor();
  await hand.leave();
  await hand.command("Show link l4");
  const down = page.getByRole("region", { name: "counters" }).getByText("down", { exact: true }).first();
  await hand.press("button", "Cut");
  await down.waitFor();
  await hand.press("button", "Heal");
  await down.waitFor({ state: "hidden" });
  await hand.press("button", "Cut for 1 s");
  // A busy machine may not show that second: what happened is listed, the last first.
  await hand.command("Show events");
  const happened = page.getByRole("listitem").filter({ hasText: /^[\d.]+ slink (up|down)/ });
  await happened.nth(3).waitFor();
  const [healed, cut] = (await happened.allInnerTexts()).map((one) => Number.parseFloat(one));
  assert.ok((healed ?? 0) - (cut ?? 0) >= 0.999, `cut at ${String(cut)} s and healed at ${String(healed)} s`);
  await hand.command("Show link l4");
  await down.waitFor({ state: "hidden" });
  const [download] = await Promise.all([page.waitForEvent("download"), hand.press("link", "Download until stopped")]);
  assert.match(download.suggestedFilename(), /l4.*\.pcapng$/);
  await download.cancel();
  assert.doesNotMatch(
    await page.getByRole("region", { name: "terminals" }).innerText(),
    /;2~/,
    "the key that leaves the terminal was typed into it",
  );
}

async function replay(page: Page, hand: Hand): Promise<void> {
  await hand.command("Show verdict");
  await hand.command("Take lab");
  await page.getByRole("heading", { name: "Verdict" }).waitFor();
  await says(page, /This lab has ended/);
  assert.equal(await page.getByText(/no lab `.*` is up/).count(), 0, "an error is shown after all went well");
  await hand.press("link", "Open its results");
  await hand.press("button", "to the next packet");
  const time = page.getByLabel("time of the replay").first();
  await time.waitFor();
  const before = await time.textContent();
  await hand.press("button", "to the next packet");
  await page.waitForFunction((was) => !document.body.innerText.includes(String(was)), before);
  await says(page, /^ICMP(v6)? h1 →\s*h3/);
}

for (const [how, make] of [
  ["keys alone", keys],
  ["a pointer alone", pointer],
] as const) {
  describe(`with ${how}, knowing only the screen`, { concurrency: SIZES.length }, () => {
    for (const [width, height] of SIZES) {
      test(`from nothing to a replay, ${width} pixels wide`, async () => {
        const { page, faults } = await visit(browser, server.addresses[0] ?? "", "", { width, height });
        page.setDefaultTimeout(PATIENCE);
        const hand = make(page);
        await draw(page, hand, `${how === "keys alone" ? "k" : "p"}${width}`);
        await fits(page, "the editor");
        await use(page, hand);
        await fits(page, "the lab");
        await replay(page, hand);
        await fits(page, "the replay");
        assert.deepEqual(faults, []);
        await page.close();
      });
    }
  });
}

test("letters typed where a field has gone are no commands", async () => {
  const { page, faults } = await visit(browser, server.addresses[0] ?? "");
  await draw(page, pointer(page), "typing");
  await page.getByRole("button", { name: "all commands" }).click();
  await page.getByRole("option", { name: "Show link l1" }).click();
  const [rate, delay] = [page.getByLabel("rate", { exact: true }), page.getByLabel("delay", { exact: true })];
  await rate.click({ clickCount: 3 });
  await page.keyboard.type("30 Mbit/s");
  // The change of the first field comes while the second one is pressed.
  await delay.click({ clickCount: 3 });
  await reads(page, /l1: .*30 Mbit/);
  await page.keyboard.type("7 ms");
  await page.keyboard.press("Tab");
  await reads(page, /l1: .*rate: 30 Mbit\/s, delay: 7 ms/);
  assert.doesNotMatch(await source(page), /s2/);
  // A field with the focus that goes away with what it was of.
  await delay.click();
  await page.evaluate(() => document.activeElement?.remove());
  await page.keyboard.type("nnrs");
  await page.waitForTimeout(300);
  assert.doesNotMatch(await source(page), /h4|r2|s2/);
  // Who leaves it means commands again.
  await page.keyboard.press("Escape");
  await page.keyboard.type("n");
  await reads(page, /h4/);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a tour is shown once, skipped for good, and begun again from help", async () => {
  const { page, faults } = await visit(browser, server.addresses[0] ?? "", "", { isNew: true });
  await page.getByRole("heading", { name: "Labs, files and results" }).nth(1).waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("heading", { name: "Begin here" }).waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.reload();
  await page.getByRole("button", { name: "New lab…" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Skip all tours" }).count(), 0);
  await page.getByRole("button", { name: "help" }).click();
  await page.getByRole("button", { name: "Show the tour of this page" }).click();
  await page.getByRole("button", { name: "Skip all tours" }).click();
  await page.getByRole("button", { name: "New lab…" }).click();
  await page.getByRole("textbox", { name: "file" }).fill("toured");
  await page.getByRole("button", { name: "Two hosts and a link" }).click();
  await page.getByText("valid", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Skip all tours" }).count(), 0);
  assert.deepEqual(faults, []);
  await page.close();
});
