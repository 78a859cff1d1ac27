// The page Clients: what each process holds and waits for.
import { h, t, update } from "./dom.js";
import { duration, number, text } from "./i18n.js";
import { empty, lockLink, table } from "./parts.js";

const SHOWN = 8;

export function clientsPage(main, state) {
  const query = state.query;
  const rows = h("div", { class: "rows" });
  const count = h("span", { class: "count", role: "status" });
  const search = h("input", { id: "search", type: "search", value: query.prefix ?? "", autocomplete: "off", spellcheck: "false", input: () => state.setQuery({ prefix: search.value }) });
  main.append(
    h("div", { class: "head" }, h("h1", {}, t("clients.title")), count,
      h("div", { class: "filters" }, h("label", { for: "search" }, t("clients.search")), search)),
    rows);
  return {
    path: () => "api/clients?" + new URLSearchParams({ prefix: query.prefix ?? "" }),
    show(data) {
      const found = data.clients;
      update(count, [t("locks.shown", { shown: number(found.rows.length), total: number(found.total) })]);
      if (!found.total) {
        update(rows, [empty("clients.none")]);
        return;
      }
      update(rows, [table(text("clients.title"), [
        { title: text("col.client") }, { title: text("col.host") }, { title: text("col.pid"), class: "figure" },
        { title: text("clients.waits"), class: "uses-column" }, { title: text("clients.holds"), class: "uses-column" }
      ], found.rows.map(client => ({
        class: client.waiting ? "contended" : "",
        cells: [h("span", { class: "client" }, client.client), client.host, String(client.pid), uses(client.waits, client.waiting), uses(client.holds, client.held)]
      })))]);
    }
  };
}

function uses(list, total) {
  if (!total) return h("span", { class: "hint" }, "–");
  return h("ul", { class: "uses" },
    list.slice(0, SHOWN).map(use => h("li", {}, lockLink(use.namespace, use.name), " ", h("span", { class: "hint" }, duration(use.ageMillis), use.mode === "shared" ? [t("sep.comma"), t("mode.shared")] : ""))),
    total > SHOWN ? h("li", { class: "hint" }, t("clients.more", { n: number(total - SHOWN) })) : null);
}
