// The page's texts. Each language is a file of its own with the same keys; a form for many follows a bar.
import en from "./en.js";
import zh from "./zh.js";

const dictionaries = { en, zh };
let language = "en";

export function setLanguage(wanted) {
  language = dictionaries[wanted] ? wanted : "en";
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

export function getLanguage() {
  return language;
}

export function preferred() {
  const stored = read("language");
  if (stored) return stored;
  return (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** The text of a key, as a list of strings and of what the values are: a value may be an element. */
export function parts(key, values = {}) {
  const dictionary = dictionaries[language];
  const forms = (dictionary[key] ?? key).split("|");
  const text = forms.length > 1 && values.n !== 1 ? forms[1] : forms[0];
  return text.split(/(\{\w+\})/).filter(Boolean).map(piece => {
    const name = /^\{(\w+)\}$/.exec(piece);
    return name && name[1] in values ? values[name[1]] : piece;
  });
}

export function text(key, values) {
  return parts(key, values).join("");
}

/** No line ends between a figure and its unit, or inside a unit of two characters. */
function unbroken(value) {
  return value.replaceAll(" ", "\u00a0").replace(/\p{Script=Han}(?=\p{Script=Han})/gu, "$&\u2060");
}

/** A duration for people, with two figures at most: 850 ms, 4.2 s, 14 min, 3 h 05 min. */
export function duration(millis) {
  return unbroken(inUnits(millis));
}

function inUnits(millis) {
  if (millis === undefined || millis === null) return "–";
  if (millis < 1) return text("unit.ms", { n: millis <= 0 ? "0" : number(millis, 1) });
  if (millis < 1000) return text("unit.ms", { n: number(millis, millis < 10 ? 1 : 0) });
  const seconds = millis / 1000;
  if (seconds < 60) return text("unit.s", { n: number(seconds, seconds < 10 ? 1 : 0) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return text("unit.min", { n: minutes }) + (minutes < 10 ? " " + text("unit.s", { n: Math.floor(seconds % 60) }) : "");
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return text("unit.h", { n: hours }) + " " + text("unit.min", { n: minutes % 60 });
  return text("unit.d", { n: Math.floor(hours / 24) });
}

export function number(value, digits = 0) {
  return value.toLocaleString(language, { maximumFractionDigits: digits, minimumFractionDigits: 0 });
}

export function percent(part) {
  const value = part * 100;
  return unbroken(value.toLocaleString(language, { maximumFractionDigits: value < 10 ? 1 : 0 }) + " %");
}

export function clock(millis) {
  return new Date(millis).toLocaleTimeString(language === "zh" ? "zh-CN" : "en-GB");
}

export function minute(millis) {
  return new Date(millis).toLocaleTimeString(language === "zh" ? "zh-CN" : "en-GB", { hour: "2-digit", minute: "2-digit" });
}

export function moment(millis) {
  return new Date(millis).toLocaleString(language === "zh" ? "zh-CN" : "en-GB");
}

export function read(key) {
  try {
    return localStorage.getItem("lockstep." + key);
  } catch {
    return null;
  }
}

export function store(key, value) {
  try {
    localStorage.setItem("lockstep." + key, value);
  } catch {
    // A browser that keeps nothing shows the defaults next time.
  }
}
