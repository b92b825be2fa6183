/** The page on the installation itself: version, database, configuration, background work, and commands for the rest. */
import { listProjections } from '../../../core/projections/projections.ts';
import { VERSION } from '../../../lib/files/version.ts';
import { html } from '../../../lib/text/html.ts';
import type { Retention } from '../../../rules/retention.ts';
import { badge, type Column, count, facts, fill, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

const text = panelTexts.installation;

type Projection = Awaited<ReturnType<typeof listProjections>>[number];

const MEGABYTE = 2 ** 20;

const megabytes = (bytes: number): string =>
  new Intl.NumberFormat(languageTag(), { style: 'unit', unit: 'megabyte', maximumFractionDigits: 0 }).format(
    bytes / MEGABYTE,
  );

const seconds = (value: number): string =>
  new Intl.NumberFormat(languageTag(), { style: 'unit', unit: 'second', maximumFractionDigits: 0 }).format(value);

const yesOrNo = (is: boolean) => (is ? badge(text.yes, 'good') : badge(text.no, ''));

const days = (kept: number): string => (kept === 0 ? text.forEver : fill(text.days, { days: count(kept) }));

/** The texts are read while the page is written. */
const projectionColumns = (): readonly Column<Projection>[] => [
  { label: text.name, cell: ({ name }) => text.projectionNames[name as keyof typeof text.projectionNames] ?? name },
  { label: text.behind, isNumber: true, cell: ({ secondsBehind }) => seconds(secondsBehind) },
  {
    label: text.state,
    cell: ({ backfilled }) =>
      backfilled === null
        ? badge(text.complete, 'good')
        : badge(fill(text.filling, { percent: count(Math.floor(backfilled * 100)) }), 'wait'),
  },
];

const commandColumns = (): readonly Column<(typeof COMMANDS)[number]>[] => [
  { label: text.command, cell: ([command]) => html`<code>${command}</code>` },
  { label: text.does, cell: ([, does, page]) => html`<a href="/docs/${page}">${text.commands[does]}</a>` },
];

/** What is done on the command line, with the page of the docs that describes it. */
const COMMANDS = [
  ['turnpike backup', 'backup', 'operator/backup-and-upgrade'],
  ['turnpike verify', 'verify', 'operator/troubleshooting'],
  ['turnpike rotate-keys', 'rotate', 'operator/vault'],
  ['turnpike migrate', 'migrate', 'operator/backup-and-upgrade'],
] as const;

async function show({ gateway }: PanelRequest): Promise<PanelAnswer> {
  const [database, projections] = await Promise.all([
    gateway.installation.describeDatabase(),
    listProjections(gateway),
  ]);
  const { retention } = gateway;
  return {
    title: text.title,
    body: html`<div class="head"><div><h1>${text.title}</h1><p class="soft">${text.lead}</p></div></div>
<div class="columns even"><section class="card"><h2>${text.program}</h2>${facts([
      [text.version, VERSION],
      [text.environment, text.environments[gateway.environment]],
      [text.address, gateway.publicUrl],
      [text.running, seconds(process.uptime())],
      [text.node, process.versions.node],
    ])}</section>
<section class="card"><h2>${text.database}</h2>${facts([
      [text.server, `PostgreSQL ${database.version}`],
      [text.size, megabytes(database.sizeBytes)],
      [text.migration, html`<span class="mono">${database.migration}</span>`],
    ])}</section>
<section class="card"><h2>${text.configuration}</h2>${facts([
      [text.mail, yesOrNo(gateway.mailer !== undefined)],
      [text.threeDs, yesOrNo(gateway.threeDs !== undefined)],
      [text.simulator, yesOrNo(gateway.simulator !== undefined)],
      [text.archive, yesOrNo(gateway.archiveFolder !== undefined)],
    ])}<p class="hint"><a href="/docs/configuration">${text.configurationHint}</a></p></section>
<section class="card"><h2>${text.retention}</h2>${facts(
      (Object.keys(text.kept) as (keyof Retention)[]).map((name) => [text.kept[name], days(retention[name])] as const),
    )}</section></div>
<section class="card flush"><div class="inset"><h2>${text.projections}</h2><p class="soft">${text.projectionsHint}</p></div>${table(
      text.projections,
      projectionColumns(),
      projections,
    )}</section>
<section class="card flush"><div class="inset"><h2>${text.onCommandLine}</h2><p class="soft">${text.onCommandLineHint}</p></div>${table(
      text.onCommandLine,
      commandColumns(),
      COMMANDS,
    )}</section>`,
  };
}

export const installationPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/installation', permission: 'installation.view', scope: 'installation', handle: show },
];
