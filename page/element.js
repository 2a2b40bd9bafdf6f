/** Elements with properties and children: element("button", { type: "button" }, "Text"). */
import { texts } from "./texts.js";
/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) /** @type {any} */ (node)[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Writes texts.js into the elements that name one of its texts. */
export function fillTexts() {
  for (const node of document.querySelectorAll("[data-text]"))
    node.textContent = String(/** @type {any} */ (texts)[/** @type {HTMLElement} */ (node).dataset.text ?? ""]);
}

/** A bar that is filled to a share of its width. @param {number} share */
export function track(share) {
  const fill = element("i");
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("div", { className: "track", "aria-hidden": "true" }, fill);
}
