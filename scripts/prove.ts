import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Progress, Report, Section } from '../tests/prove/report.ts'

/**
 * Proves what a test run is too short for: `npm run prove -- <suite>`. A suite is a module of tests/prove; some are made
 * of several, and each of these can be proven again by itself (`npm run prove -- operate operate-restore`). The report is kept under
 * docs/proof, with its figures as data and its pictures beside it. `npm run prove -- all` proves one suite after the other.
 */
const combined: Record<string, string[]> = {
  realtime: ['realtime-simulation', 'realtime'],
  client: ['client-simulation'],
  web: ['web-walks'],
  greedy: ['greedy', 'greedy-before'],
  operate: ['operate-image', 'operate-rolling', 'operate-upgrade', 'operate-failover', 'operate-restore'],
}
const suites = [...Object.keys(combined), 'race-pairs', 'fuzz', 'overload', 'soak']
const FOLDER = new URL('../docs/proof/', import.meta.url)

/** A part of a suite as it was proven: the module, when, and of which commit. */
interface Part extends Report {
  part: string
  about: Record<string, string | number>
}

const [suite, ...only] = process.argv.slice(2)
if (!suite) {
  console.error('Which suite? npm run prove -- <suite>, for example realtime; with names of its parts, those alone')
  process.exit(1)
}
if (suite === 'all') {
  const failed = suites.filter(
    (one) => spawnSync(process.execPath, [import.meta.filename, one], { stdio: 'inherit' }).status !== 0,
  )
  console.log(failed.length === 0 ? '✓ all: no violation' : `✗ all: violations in ${failed.join(', ')}`)
  process.exit(failed.length === 0 ? 0 : 1)
}
const began = performance.now()
const progress: Progress = (line) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`)

const names = combined[suite] ?? [suite]
const unknown = [...names, ...only].filter(
  (name) => !names.includes(name) || !existsSync(fileURLToPath(moduleOf(name))),
)
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')} in ${suite}`)
  process.exit(1)
}

// As it stands before the first part: what is changed meanwhile is not what was proven.
const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'packages') ? ' with changes' : '')
const parts = await readParts(suite)
for (const name of only.length > 0 ? only : names) {
  const { prove } = (await import(moduleOf(name).href)) as { prove: (progress: Progress) => Promise<Report> }
  const started = performance.now()
  const report = await prove(progress)
  const seconds = Math.round((performance.now() - started) / 1000)
  parts.set(name, { part: name, about: { commit, ...conditions(), seconds }, ...report })
  // After each part: what was measured is not lost when the next part fails.
  await keep(
    suite,
    names.flatMap((each) => parts.get(each) ?? []),
  )
}
const violations = [...parts.values()].flatMap((part) => part.violations)
for (const violation of violations.slice(0, 50)) console.log(`✗ ${violation}`)
console.log(violations.length === 0 ? `✓ ${suite}: no violation` : `✗ ${suite}: ${violations.length} violations`)
process.exit(violations.length === 0 ? 0 : 1)

function moduleOf(name: string) {
  return new URL(`../tests/prove/${name}.ts`, import.meta.url)
}

function conditions() {
  const machine = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`
  return { date: new Date().toISOString().slice(0, 10), machine }
}

/** The parts that were proven before, and are not proven again. */
async function readParts(name: string): Promise<Map<string, Part>> {
  if (only.length === 0) return new Map()
  const text = await readFile(new URL(`${name}.json`, FOLDER), 'utf8').catch(() => '{"parts":[]}')
  return new Map((JSON.parse(text) as { parts: Part[] }).parts.map((part) => [part.part, part]))
}

async function keep(name: string, all: Part[]) {
  await mkdir(FOLDER, { recursive: true })
  await writeFile(new URL(`${name}.md`, FOLDER), markdown(name, all))
  const withoutDrawings = (key: string, value: unknown) => (key === 'svg' ? undefined : value)
  await writeFile(new URL(`${name}.json`, FOLDER), `${JSON.stringify({ parts: all }, withoutDrawings, 2)}\n`)
  for (const { name: of, svg } of all.flatMap((part) => part.sections.flatMap((section) => section.pictures ?? []))) {
    // One that was drawn before lies there already.
    if (svg) await writeFile(new URL(`${name}-${of}.svg`, FOLDER), svg)
  }
}

function markdown(name: string, all: Part[]): string {
  const lines = [`# Proof: ${name}`, '', `Made by \`npm run prove -- ${name}\`.`, '']
  for (const { title, about, setting, sections, violations: found } of all) {
    lines.push(`## ${title}`, '', ...pairs({ ...about, ...setting }), '')
    lines.push(found.length === 0 ? '**No violation.**' : `**${found.length} violations.**`, '')
    for (const violation of found.slice(0, 50)) lines.push(`- ${violation}`)
    if (found.length > 0) lines.push('')
    for (const section of sections) lines.push(...sectionLines(name, section))
  }
  return `${lines.join('\n').trimEnd()}\n`
}

function sectionLines(name: string, { heading, text, table, pictures = [] }: Section): string[] {
  const lines = [`### ${heading}`, '']
  if (text) lines.push(text, '')
  if (table) {
    lines.push(row(table.columns), row(table.columns.map(() => '---')), ...table.rows.map(row), '')
  }
  for (const picture of pictures) lines.push(`![${picture.caption}](${name}-${picture.name}.svg)`, '')
  return lines
}

function row(cells: (string | number)[]): string {
  return `| ${cells.join(' | ')} |`
}

function pairs(values: Record<string, string | number>): string[] {
  return Object.entries(values).map(([key, value]) => `- ${key.replaceAll('_', ' ')}: ${value}`)
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}
