// Draws the charts of a page: each figure has its data as JSON, and the table behind it for those who cannot see it.
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const { lang } = document.documentElement;
const UNITS = {
  '%': (value) => `${value.toLocaleString(lang)} %`,
  ms: (value) => `${value.toLocaleString(lang)} ms`,
  amount: (value) => value.toLocaleString(lang, { maximumFractionDigits: 2 }),
  count: (value) => value.toLocaleString(lang),
};
const DAY = 86_400;
for (const figure of document.querySelectorAll('[data-chart]')) {
  const { times, series } = JSON.parse(figure.dataset.chart);
  const colours = [style('--accent'), style('--second'), style('--wait')];
  const axis = { stroke: style('--soft'), grid: { stroke: style('--line'), width: 1 }, ticks: { show: false } };
  const size = () => ({ width: figure.clientWidth, height: 220 });
  const unitOf = ({ unit = 'count' }) => unit;
  const scales = [...new Set(series.map(unitOf))];
  const isDaily = times.length > 1 && times[1] - times[0] >= DAY;
  const timeZone = 'UTC';
  const moment = new Intl.DateTimeFormat(
    lang,
    isDaily ? { dateStyle: 'medium', timeZone } : { dateStyle: 'medium', timeStyle: 'short' },
  );
  const tick = new Intl.DateTimeFormat(
    lang,
    isDaily ? { day: 'numeric', month: 'short', timeZone } : { hour: 'numeric', minute: '2-digit' },
  );
  // The days of the figures are those of UTC. Ticks are whole days apart, so that each date stands there once.
  const days = isDaily && {
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), timeZone),
    incrs: [1, 2, 7, 14, 28, 91, 182, 364].map((count) => count * DAY),
  };
  const chart = new uPlot(
    {
      ...size(),
      ...(days && { tzDate: days.tzDate }),
      series: [
        { label: '\u00a0', value: (_chart, at) => (at === null ? '' : moment.format(at * 1000)) },
        ...series.map(({ label, unit, isPrevious, values }, index) => ({
          label,
          stroke: isPrevious ? style('--soft') : colours[index],
          dash: isPrevious ? [4, 4] : undefined,
          fill: index === 0 && !isPrevious ? `${colours[0]}22` : undefined,
          width: isPrevious ? 1.5 : 2,
          points: { show: values.filter((value) => value !== null).length < 3 },
          scale: unitOf({ unit }),
          // Without a cursor there is no index.
          value: (_chart, value, _series, index) => {
            if (index === null) return '';
            return value === null ? '–' : UNITS[unitOf({ unit })](value);
          },
        })),
      ],
      scales: Object.fromEntries(
        scales.map((unit) => [
          unit,
          { range: unit === '%' ? [0, 100] : (_chart, _low, high) => [0, Math.max(1, high * 1.05)] },
        ]),
      ),
      axes: [
        {
          ...axis,
          ...(days && { incrs: days.incrs }),
          values: (_chart, ticks) => ticks.map((at) => tick.format(at * 1000)),
        },
        ...scales.map((unit, index) => ({
          ...axis,
          scale: unit,
          side: index === 0 ? 3 : 1,
          size: 64,
          ...(index > 0 && { grid: { show: false } }),
          values: (_chart, ticks) => ticks.map((value) => UNITS[unit](value)),
        })),
      ],
    },
    [times, ...series.map(({ values }) => values)],
    figure,
  );
  new ResizeObserver(() => chart.setSize(size())).observe(figure);
}
