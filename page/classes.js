/**
 * The classes on the right: a card each, with what was learned and what can be done. A new name has a card before it has
 * pictures.
 *
 * @typedef {import("./session.js").Session} Session
 * @typedef {{take: () => Promise<import("./session.js").Seen | null>, live: () => boolean, read: (files: Blob[]) => Promise<import("./session.js").Seen[]>, tell: (text: string) => void, attempt: (act: () => Promise<any>) => Promise<void>, openPictures: (title: string, pictures: import("./store.js").Kept[]) => void}} Hands
 */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const SHOWN = 8;
const BETWEEN = 180; // milliseconds between two pictures while the button is held

// A menu closes when something else is pressed.
document.addEventListener("pointerdown", ({ target }) => {
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(/** @type {Node} */ (target))) /** @type {HTMLDetailsElement} */ (menu).open = false;
});

/** @type {WeakMap<Uint8Array, string>} */
const addresses = new WeakMap();

/** @param {Uint8Array | string} thumbnail a JPEG, or where it is */
export function addressOf(thumbnail) {
  if (typeof thumbnail === "string") return thumbnail;
  const jpeg = () => new Blob([/** @type {BlobPart} */ (thumbnail)], { type: "image/jpeg" });
  const known = addresses.get(thumbnail) ?? URL.createObjectURL(jpeg());
  addresses.set(thumbnail, known);
  return known;
}

export class Classes {
  /** @param {Session} session @param {Hands} hands */
  constructor(session, hands) {
    this.session = session;
    this.hands = hands;
    /** @type {string[]} */
    this.planned = [];
  }

  /** @param {string} name */
  plan(name) {
    const text = name.trim().normalize("NFC");
    if (text && !this.session.classes.some((one) => one.name === text) && !this.planned.includes(text))
      this.planned.unshift(text);
    this.draw();
  }

  draw() {
    const { classes, pictures, steps } = this.session;
    this.planned = this.planned.filter((name) => !classes.some((one) => one.name === name));
    const before = steps.at(-2)?.right ?? {};
    const right = this.session.right();
    const cards = [...this.planned.map((name) => ({ name, pictures: 0 })), ...classes].map((one) => {
      const own = pictures.filter(({ name }) => name === one.name);
      return this.card(one.name, one.pictures, own, before[one.name], right[one.name]);
    });
    const list = byId("classes");
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
    list.replaceChildren(...cards);
    if (focused) /** @type {any} */ (list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    byId("empty").hidden = cards.length > 0;
  }

  /**
   * @param {string} name
   * @param {number} learned
   * @param {import("./store.js").Kept[]} own
   * @param {[number, number] | undefined} before
   * @param {[number, number] | undefined} right
   */
  card(name, learned, own, before, right) {
    const held = own.filter((picture) => picture.held).length;
    const facts = element("p", { className: "facts note" }, element("span", {}, texts.counts(learned, held)));
    if (right) {
      const was = before && before[0] / before[1] !== right[0] / right[1] ? before[0] / before[1] : undefined;
      facts.append(element("b", {}, texts.known(was, right[0] / right[1])));
    }
    const card = element(
      "li",
      { className: "class" },
      element("div", { className: "row" }, element("h3", {}, name), learned ? this.menu(name, own, learned) : this.removeButton(name)),
      facts,
    );
    if (own.length) card.append(this.pictures(name, own));
    card.append(element("div", { className: "buttons" }, this.holdButton(name), this.fileButton(name)));
    card.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.add("drop");
    });
    card.addEventListener("dragleave", () => card.classList.remove("drop"));
    card.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.remove("drop");
      this.learnFiles(name, [...(event.dataTransfer?.files ?? [])]);
    });
    return card;
  }

  /** @param {string} name @param {Blob[]} files */
  learnFiles(name, files) {
    if (!files.length) return Promise.resolve();
    return this.hands.attempt(async () => this.session.learn(name, await this.hands.read(files)));
  }

  /** @param {string} name @param {import("./store.js").Kept[]} own */
  pictures(name, own) {
    const last = own.slice(-SHOWN).reverse();
    const list = element("ul", { className: "pictures" });
    for (const picture of last) {
      const image = element("img", { alt: texts.pictureOf(name), src: addressOf(picture.thumbnail) });
      if (picture.held) image.className = "held";
      list.append(element("li", {}, image));
    }
    const more = own.length > SHOWN ? texts.morePictures(own.length - SHOWN) : "…";
    const all = element("button", { type: "button", "aria-label": `${more} ${texts.allPictures(name)}` }, more);
    all.addEventListener("click", () => this.hands.openPictures(texts.allPictures(name), own));
    list.append(element("li", {}, all));
    return list;
  }

  /** Of a class that has no pictures yet. @param {string} name */
  removeButton(name) {
    const button = element("button", { type: "button", className: "plain" }, texts.remove);
    button.setAttribute("aria-label", `${texts.remove}: ${name}`);
    button.addEventListener("click", () => {
      this.planned = this.planned.filter((one) => one !== name);
      this.draw();
    });
    return button;
  }

  /** A picture to look at, and to forget. @param {import("./store.js").Kept} picture @param {number} number */
  pictureItem(picture, number) {
    const forget = element("button", { type: "button", className: "plain" }, texts.forget);
    forget.setAttribute("aria-label", texts.forgetPicture(number, picture.name));
    forget.addEventListener("click", () => this.hands.attempt(() => this.session.forgetPicture(picture)));
    const image = element("img", { loading: "lazy", alt: texts.pictureOf(picture.name), src: addressOf(picture.thumbnail) });
    const item = element("li", {}, image);
    if (picture.held) item.append(element("span", { className: "note" }, texts.heldBack));
    if (picture.held || this.session.can.unlearn) item.append(forget);
    return item;
  }

  /** @param {string} name */
  holdButton(name) {
    const button = element("button", { type: "button", className: "hold" }, texts.hold);
    button.dataset.key = `hold ${name}`;
    button.setAttribute("aria-label", `${texts.hold}: ${name}`);
    /** @type {Promise<void> | null} */
    let turn = null;
    let held = false;
    const start = () => {
      if (turn) return;
      held = true;
      button.classList.add("on");
      turn = this.hands
        .attempt(async () => {
          const seen = [];
          do {
            const one = await this.hands.take();
            if (!one) {
              this.hands.tell(texts.nothingToTake);
              break;
            }
            seen.push(one);
            if (!this.hands.live()) break; // one of a picture that stays
            button.textContent = texts.taking(seen.length);
            await new Promise((done) => setTimeout(done, BETWEEN));
          } while (held);
          if (seen.length) await this.session.learn(name, seen);
        })
        .finally(() => {
          turn = null;
          button.textContent = texts.hold;
        });
    };
    const stop = () => {
      held = false;
      button.classList.remove("on");
    };
    button.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      button.setPointerCapture(event.pointerId);
      start();
    });
    for (const kind of ["pointerup", "pointercancel", "blur"]) button.addEventListener(kind, stop);
    button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      if (!event.repeat) start();
    });
    button.addEventListener("keyup", stop);
    // A screen reader clicks without holding: one picture.
    button.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (event.detail !== 0) return;
      start();
      stop();
    });
    return button;
  }

  /** @param {string} name */
  fileButton(name) {
    const input = element("input", { type: "file", accept: "image/*", multiple: true });
    input.setAttribute("aria-label", `${texts.files}: ${name}`);
    input.addEventListener("change", () => {
      const files = [...input.files];
      input.value = "";
      this.learnFiles(name, files);
    });
    return element("label", { className: "button" }, element("span", {}, texts.files), input);
  }

  /** @param {string} name @param {import("./store.js").Kept[]} own @param {number} learned */
  menu(name, own, learned) {
    const { session, hands } = this;
    const box = element("div");
    const menu = element("details", { className: "menu" }, element("summary", { "aria-label": texts.more(name) }, "⋯"), box);
    const item = (/** @type {string} */ text, /** @type {() => Promise<any>} */ act) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        menu.open = false;
        hands.attempt(act);
      });
      box.append(button);
    };
    item(texts.rename, async () => {
      const to = prompt(texts.renameTo(name), name)?.trim();
      if (to && to !== name) await session.rename(name, to);
    });
    const others = session.classes.filter((one) => one.name !== name);
    const here = own.filter(({ held }) => !held).length;
    if (others.length && here === learned && session.can.unlearn) {
      const choice = element("select", {}, element("option", { value: "" }, "…"));
      for (const other of others) choice.append(element("option", { value: other.name }, other.name));
      choice.addEventListener("change", () => {
        menu.open = false;
        if (choice.value) hands.attempt(() => session.merge(name, choice.value));
      });
      box.append(element("label", { className: "note" }, texts.mergeInto, choice));
    }
    item(texts.forget, () => session.forget(name));
    menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") menu.open = false;
    });
    return menu;
  }
}
