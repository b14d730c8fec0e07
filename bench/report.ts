import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Conditions } from './conditions.ts'
import type { Figure, Findings, Table } from './measure.ts'
import { shares } from './plot.ts'

/** What one benchmark found, when, and of which commit. */
export interface Kept extends Findings {
  benchmark: string
  date: string
  commit: string
  seconds: number
}

/** What each benchmark asks, for the reader of the report. */
const questions: Record<string, [title: string, text: string]> = {
  writes: [
    'Writes',
    'How much of what PostgreSQL can do alone is left when a request goes through the whole service: HTTP, token, membership, rules, the event log and the message in Redis by which other instances hear of it.',
  ],
  'hot-board': [
    'One busy board',
    'Changes of one board happen one after the other, in the order in which everybody sees them. How many fit into a second, and do the other boards suffer?',
  ],
  'full-board': [
    'Full boards',
    'A client that opens a board gets all of it. What that costs after a change, without one, and when the client has it already.',
  ],
  'fan-out': [
    'Fan-out',
    'An event goes to everybody who looks at the board. Bare sockets that get the same bytes are the floor.',
  ],
  'commit-to-client': [
    'From a write to a client of another instance',
    'What people feel when they work together: the time from one’s request to the other’s screen, over two instances.',
  ],
  login: [
    'Logins',
    'Hashing a password is slow on purpose. The service must add nothing to it, and nobody else may notice.',
  ],
  growth: ['Growth', 'What happens when there is ten times or a hundred times as much.'],
  peer: ['Beside a peer', 'A service of the same kind, for scale.'],
}

const RESULTS = 'bench/results/'
const PICTURES = 'docs/pictures/'

export async function readKept(target: URL): Promise<Kept[]> {
  const text = await readFile(new URL(`${RESULTS}findings.json`, target), 'utf8').catch(() => '[]')
  return JSON.parse(text) as Kept[]
}

/** Writes the figures as data, the conditions beside them, the report for readers, and its pictures. */
export async function keep(target: URL, conditions: Conditions, all: Kept[]) {
  const write = async (path: string, text: string) => writeFile(new URL(path, target), text)
  await Promise.all([RESULTS, PICTURES].map((path) => mkdir(new URL(path, target), { recursive: true })))
  const figures = all.flatMap((one) => one.figures)
  const withoutDrawings = (key: string, value: unknown) => (key === 'svg' ? undefined : value)
  await write(`${RESULTS}latest.json`, json(figures))
  await write(`${RESULTS}conditions.json`, json(conditions))
  await write(`${RESULTS}findings.json`, `${JSON.stringify(all, withoutDrawings, 2)}\n`)
  await write('docs/performance.md', markdown(conditions, all))
  await write(`${PICTURES}bench-goals.svg`, drawGoals(figures))
  for (const { name, svg } of all.flatMap((one) => one.pictures ?? [])) {
    // One that was drawn before lies there already.
    if (svg) await write(`${PICTURES}bench-${name}.svg`, svg)
  }
}
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function drawGoals(figures: Figure[]): string {
  const rows = figures
    .filter(({ reached }) => reached !== null)
    .map(({ name, reached, goal, ours, ratio, unit }) => ({
      name,
      share: reached ?? 0,
      text: goal?.startsWith('ratio') ? `${ratio} (${goal})` : `${ours} ${unit} (${goal})`,
    }))
  return shares('How far each goal was reached: the line is the goal', rows)
}

function markdown(conditions: Conditions, all: Kept[]): string {
  const figures = all.flatMap((one) => one.figures)
  const aimed = figures.filter(({ met }) => met !== null)
  const lines = [
    '# Performance',
    '',
    'How fast Lockstep is, compared with the bare engines that it rests on, measured beside each other. This page is made by',
    '`npm run bench`; its figures are in `bench/results/latest.json`, the conditions beside them.',
    '',
    '## How it is measured',
    '',
    '- Real processes: the service, a PostgreSQL that forces every commit to the disk, a Redis, and the load in a process of its',
    '  own. All share the cores of one machine, so whatever the load and the service use is missing elsewhere. In production a request also',
    '  asks Redis for its limit and writes a line of the log; here it does neither.',
    '- Ours and the bare engine take turns, in the other order every second time, and rates are medians of at least five turns. A',
    '  ratio says more than a rate: a slow hour slows both. Percentiles are of single requests; memory and what others notice of many',
    '  logins are measured once; growth is the median of 40 requests, of 8 for full boards; Planka was measured on another day.',
    '- The bare engine of a write is PostgreSQL itself, driven by its own load generator: once with the very statements that the',
    '  service sends for such a request, taken from the server’s log, and once with one function that does the same work.',
    '- Processor time is read from the kernel for each process; PostgreSQL’s is that of all its backends.',
    '- Nothing counts that is not right: every answer’s status is checked, in the first two parts every write must have left its',
    '  event, other forms of a board must be the same JSON, and every socket must have got every event once. A benchmark that finds otherwise fails.',
    '- A goal that is missed is shown as missed; it breaks nothing.',
    '',
    '## Conditions',
    '',
    'Of the last run. A part that was measured earlier says so.',
    '',
    ...Object.entries(conditions).map(([name, value]) => `- ${name}: ${value}`),
    '',
    '## Goals',
    '',
    `${aimed.filter(({ met }) => met).length} of ${aimed.length} are met. “Bare” is the engine or the state that the row names; the ratio is ours to it.`,
    '',
    row(['figure', 'ours', 'bare', 'ratio', 'goal', 'met']),
    row(['---', '---:', '---:', '---:', '---', '---']),
    ...figures.map(({ name, ours, bare, ratio, unit, goal, met }) =>
      row([
        name,
        `${ours} ${unit}`,
        bare === null ? '' : `${bare} ${unit}`,
        ratio ?? '',
        goal ?? '',
        met === null ? '' : met ? 'yes' : '**no**',
      ]),
    ),
    '',
    '![How far each goal was reached](pictures/bench-goals.svg)',
    '',
  ]
  for (const { benchmark, tables, pictures = [], limits, date, commit, seconds } of all) {
    const [title, text] = questions[benchmark] ?? [benchmark, '']
    lines.push(`## ${title}`, '', text, '')
    for (const table of tables) lines.push(...tableLines(table))
    for (const { name, caption } of pictures) lines.push(`![${caption}](pictures/bench-${name}.svg)`, '')
    if (limits) lines.push(`**What limits it.** ${limits}`, '')
    lines.push(
      `Measured ${date} UTC at ${commit || 'an unknown commit'}, in ${seconds} s: \`npm run bench -- ${benchmark}\`.`,
      '',
    )
  }
  return `${lines.join('\n').trimEnd()}\n`
}

function tableLines({ heading, text, columns, rows }: Table): string[] {
  return [`### ${heading}`, '', text, '', row(columns), row(columns.map(() => '---')), ...rows.map(row), '']
}
const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
