"""How a report looks: dark on white, rules as in printed tables, on a screen, a phone and A4."""

CSS = """
:root { color-scheme: light; --ink: #1b1b1b; --soft: #595959; --holds: #15612c; --fails: #9c1c1c; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink); overflow-wrap: break-word;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
p, li { max-width: 46rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .75rem; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .75rem; padding-top: .6rem;
  border-top: 2px solid var(--ink); }
section { margin-top: 2.75rem; }
a { color: #0b4a8f; }
nav ol { columns: 2; column-gap: 2rem; max-width: 46rem; padding-left: 1.4rem; margin: 1rem 0 0; }
nav li { break-inside: avoid; }

.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid #0b4a8f; outline-offset: 2px; }
.block { margin: 1.25rem 0 1.75rem; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.35; font-variant-numeric: tabular-nums;
  border-bottom: 1.5px solid var(--ink); }
.title { font-weight: 600; margin: 0 0 .35rem; }
thead th { border-top: 1.5px solid var(--ink); border-bottom: 1px solid var(--ink); vertical-align: bottom; }
th, td { padding: .3rem .6rem; text-align: right; vertical-align: top; white-space: nowrap; }
thead th { font-weight: 600; white-space: normal; }
th:first-child, td:first-child { padding-left: .15rem; }
tbody tr + tr > * { border-top: 1px solid #ebebeb; }
tbody tr.group > * { border-top-color: #8c8c8c; }
.words { text-align: left; white-space: normal; }
.words.short, .formula { white-space: nowrap; }
.words.long { min-width: 13rem; }
.note { color: var(--soft); font-size: .875rem; margin: .45rem 0 0; }
.holds, .fails { font-weight: 600; }
.holds { color: var(--holds); }
.fails { color: var(--fails); }
.unmeasured { color: var(--soft); font-style: italic; }

figure { margin: 1.5rem 0 2rem; }
figure svg { display: block; width: 100%; max-width: 54rem !important; height: auto; }
figcaption { font-size: .875rem; max-width: 46rem; margin-top: .6rem; }
pre { font: .8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  margin: .75rem 0; padding: .75rem .9rem; background: #f5f5f5; border: 1px solid #e2e2e2;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.items { margin: .25rem 0 1.25rem; padding-left: 1.4rem; }
.items li { margin: .2rem 0; }

@media screen and (max-width: 40rem) {
  main { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  nav ol { columns: 1; }
  figure svg { min-width: 38rem; }
  .stacked, .stacked tbody, .stacked tr, .stacked td { display: block; }
  .stacked thead, .stacked td:empty { display: none; }
  .stacked tr { padding: .5rem 0; border-top: 1px solid #8c8c8c; }
  .stacked tbody tr td { position: relative; padding: .1rem 0 .1rem 6.5rem; border: 0; white-space: normal; }
  .stacked td::before { content: attr(data-label); position: absolute; left: 0; width: 6rem;
    color: var(--soft); font: normal 400 .8125rem/1.45 system-ui, sans-serif; }
}

@media print {
  @page { size: A4; margin: 16mm 15mm; }
  html { font-size: 9.5pt; }
  body { line-height: 1.4; }
  main { max-width: none; padding: 0; }
  section { margin-top: 1.75rem; }
  a { color: inherit; text-decoration: none; }
  nav { break-after: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 7.75pt; }
  th, td { padding: .2rem .35rem; }
  .formula.words { white-space: nowrap; }
.words.long { min-width: 0; }
  thead { display: table-header-group; }
  thead, tr, figure, pre, .whole { break-inside: avoid; }
  h2, .title { break-after: avoid; }
  .note { break-before: avoid; font-size: 8pt; }
  pre { background: none; }
}
"""
