"""What a report says and how it looks: its texts and its style."""

GUIDE = """
<p>A <b>policy</b> ranks documents, sees what a <b>user</b> clicks, learns, and ranks again: that is one
<b>round</b>. The users are simulated, so the true relevance is known and every list can be graded. All
policies meet the same queries; several independent <b>runs</b> show how much is luck.</p>
<ul>
<li><b>Lines</b> are means over runs; <b>bands</b>, from three runs on, are 95&nbsp;% confidence intervals.
Where bands overlap widely, do not conclude that one policy is better.</li>
<li><b>Panels</b> are user models; all panels of a chart share one scale.</li>
<li><b>Tables</b> show the last round. <b>Bold</b> is the best; ▽ and ▼ are worse than the best beyond luck.
No mark means that this experiment could not tell them apart. <b>Dots</b> are single runs: one far from the
others got stuck, and the mean hides it.</li>
<li>Point at a line for its numbers; click a name in a legend to single a policy out, twice to go back.</li>
</ul>"""

STYLE = """
:root { color-scheme: light dark;
  --ink: #1f2328; --soft: #59636e; --line: #e3e6ea; --paper: #ffffff; --page: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa4af; --line: #33383f; --paper: #16181c; --page: #0e1013; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 40px 20px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 21px; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 16px; margin: 22px 0 6px; overflow-wrap: anywhere; }
.lead, .meaning, caption, footer { color: var(--soft); }
.lead { margin: 0 0 24px; } .meaning { margin: 2px 0 18px; }
section, details { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 22px 24px; margin: 18px 0; overflow-x: auto; }
details { padding: 14px 24px; } summary { cursor: pointer; font-weight: 600; }
figure { margin: 0 0 18px; } .chart { min-height: 330px; } figcaption { font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: min(100%, 960px); }
caption { caption-side: bottom; text-align: left; font-size: 13.5px; line-height: 1.5; padding-top: 12px; }
th, td { padding: 6px 18px 6px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th[scope=row], th.name { text-align: left; }
table + table { margin-top: 28px; } small { color: var(--soft); }
.change { width: min(100%, 1130px); } .change th[scope=row] { white-space: normal; overflow-wrap: anywhere; }
thead th { color: var(--soft); font-weight: 600; font-size: 14px; }
th[scope=row] { font-weight: 500; white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
td.best { font-weight: 700; }
td small { font-weight: 400; } .strip { vertical-align: middle; overflow: visible; }
.strip circle { fill: #0072B2; fill-opacity: .55; } .strip line { stroke: var(--line); }
.strip .mean { stroke: var(--ink); stroke-width: 1.5; }
.banner { border: 2px solid #E69F00; border-radius: 10px; padding: 12px 24px; font-weight: 600; }
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: 6px 22px; margin: 12px 0 0; }
.key { font-size: 13.5px; gap: 2px 16px; margin: 4px 0 0; } .key dd { font-family: ui-monospace, monospace; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { font-size: 13.5px; margin-top: 28px; }
"""
