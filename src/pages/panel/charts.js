// Draws the charts of a page: each figure has its data as JSON, and the table behind it for those who cannot see it.
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
for (const figure of document.querySelectorAll('[data-chart]')) {
  const { times, series } = JSON.parse(figure.dataset.chart);
  const colours = [style('--accent'), style('--second'), style('--soft')];
  const axis = { stroke: style('--soft'), grid: { stroke: style('--line'), width: 1 }, ticks: { show: false } };
  const size = () => ({ width: figure.clientWidth, height: 220 });
  const chart = new uPlot(
    {
      ...size(),
      series: [
        {},
        ...series.map(({ label, unit }, index) => ({
          label,
          stroke: colours[index],
          fill: index === 0 ? `${colours[0]}22` : undefined,
          width: 2,
          points: { show: times.length < 3 },
          scale: unit ?? 'count',
          value: (_chart, value) => (value === null ? '–' : unit === '%' ? `${value} %` : value.toLocaleString()),
        })),
      ],
      scales: { count: { range: (_chart, _low, high) => [0, Math.max(1, high)] }, '%': { range: [0, 100] } },
      axes: [
        axis,
        { ...axis, scale: 'count', size: 56 },
        ...(series.some(({ unit }) => unit === '%')
          ? [
              {
                ...axis,
                scale: '%',
                side: 1,
                size: 48,
                grid: { show: false },
                values: (_chart, ticks) => ticks.map((tick) => `${tick} %`),
              },
            ]
          : []),
      ],
    },
    [times, ...series.map(({ values }) => values)],
    figure,
  );
  new ResizeObserver(() => chart.setSize(size())).observe(figure);
}
