// Elements from data. Text is only ever set as text: a lock may be called <script>.
import { parts } from "./i18n.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element. Attributes that are functions become listeners; children are elements, strings, or lists of them. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

/** A translated text, in which values may be elements. */
export function t(key, values) {
  return parts(key, values);
}

/**
 * Makes an element's children like others. What is equal stays, so that focus, scrolling, selected text and what a screen reader has
 * read stay, too. An element with a listener differs from another one with other data by its data-key.
 */
export function update(element, children) {
  const wanted = children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false && child !== "");
  for (let i = 0; i < wanted.length; i++) {
    const now = element.childNodes[i];
    if (now) merge(element, now, wanted[i]);
    else element.append(wanted[i]);
  }
  while (element.childNodes.length > wanted.length) element.lastChild.remove();
}

function merge(parent, now, wanted) {
  if (typeof wanted === "string") {
    if (now.nodeType !== Node.TEXT_NODE) parent.replaceChild(document.createTextNode(wanted), now);
    else if (now.data !== wanted) now.data = wanted;
    return;
  }
  if (now.isEqualNode(wanted)) return;
  const alike = now.nodeName === wanted.nodeName && now.nodeType === Node.ELEMENT_NODE
      && now.getAttribute("data-key") === wanted.getAttribute("data-key");
  if (!alike || wanted.matches(LISTENING)) {
    replace(parent, now, wanted);
    return;
  }
  for (const { name } of [...now.attributes]) if (!wanted.hasAttribute(name) && name !== "open") now.removeAttribute(name);
  for (const { name, value } of [...wanted.attributes]) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  update(now, [...wanted.childNodes].map(node => node.nodeType === Node.TEXT_NODE ? node.data : node));
}

const LISTENING = "button, input, select";

/** Replaces an element; if the focus was inside, it goes to the element with the same data-focus. */
function replace(parent, now, wanted) {
  const focused = now.contains(document.activeElement) ? document.activeElement.getAttribute("data-focus") : null;
  parent.replaceChild(wanted, now);
  if (focused && wanted.nodeType === Node.ELEMENT_NODE) {
    const again = [wanted, ...wanted.querySelectorAll("[data-focus]")].find(each => each.getAttribute("data-focus") === focused);
    if (again) again.focus({ preventScroll: true });
  }
}
