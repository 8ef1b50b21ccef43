const schemes = JSON.parse(document.getElementById("schemes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
async function draw(chart) {
  const spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  try {
    const config = dark.matches ? schemes.dark : schemes.light;
    await vegaEmbed(chart, spec, {config, renderer: "svg", actions: false});
    chart.dataset.state = "drawn";
  } catch (problem) {
    chart.dataset.state = "failed";
    chart.textContent = "This chart could not be drawn (" + problem + "). Its picture is beside this page.";
  }
}
const drawAll = () => document.querySelectorAll(".chart").forEach(draw);
dark.addEventListener("change", drawAll);
drawAll();
