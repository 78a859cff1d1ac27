// The page Heat: waiter-seconds by prefix and minute.
import { h, t, update } from "./dom.js";
import { minute, number, text } from "./i18n.js";
import { empty } from "./parts.js";

const STEPS = [0, 1, 10, 60, 300, 1500];

/** How hot a minute is, from 0 to 6. */
export function level(seconds) {
  let found = 0;
  for (const step of STEPS) if (seconds > step) found++;
  return found;
}

export function heatPage(main) {
  const content = h("div", { class: "rows" });
  const legend = h("p", { class: "legend hint", "aria-hidden": "true" });
  let scrolled = false;
  main.append(h("h1", {}, t("heat.title")), h("p", { class: "hint" }, t("heat.help")), content, legend);
  return {
    path: () => "api/heat",
    show(data) {
      const { minutes, rows } = data.heat;
      if (!rows.length) {
        update(content, [empty("heat.none")]);
        return;
      }
      const heads = minutes.map((seconds, i) => h("th", { scope: "col" }, i % 10 === 9 ? h("span", { class: "tick" }, minute(seconds * 1000)) : h("span", { class: "hidden" }, minute(seconds * 1000))));
      update(content, [
        h("table", { class: "heat", "aria-label": text("heat.title") },
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("heat.prefix")), h("th", { scope: "col", class: "figure" }, t("heat.total")), heads)),
          h("tbody", {}, rows.map(row => h("tr", {},
            h("th", { scope: "row" }, row.others ? t("heat.others") : h("a", { href: "#/now?prefix=" + encodeURIComponent(row.prefix) }, row.prefix)),
            h("td", { class: "figure" }, number(row.total)),
            row.seconds.map((seconds, i) => h("td", { class: "h" + level(seconds), title: text("heat.cell", { prefix: row.prefix, time: minute(minutes[i] * 1000), seconds: number(seconds, 1) }) },
              h("span", { class: "hidden" }, number(seconds, 1))))))))]);
      update(legend, [t("heat.less"), " ", [0, 1, 2, 3, 4, 5, 6].map(n => h("i", { class: "h" + n })), " ", t("heat.more")]);
      if (!scrolled) content.scrollLeft = content.scrollWidth; // on a phone the latest minutes would be out of sight
      scrolled = true;
    }
  };
}
