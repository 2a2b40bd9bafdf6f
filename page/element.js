/** One element with properties and children: element("button", { type: "button" }, "Text"). */

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A bar of a share of its width. @param {number} share */
export function track(share) {
  const fill = element("i");
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("div", { className: "track", "aria-hidden": "true" }, fill);
}
