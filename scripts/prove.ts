import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Progress, Report, Section } from '../tests/prove/report.ts'

/**
 * Proves what a test run is too short for: `npm run prove -- <suite>`. A suite is a module of tests/prove; some are made
 * of several. The report is kept under docs/proof, with its figures as data and its pictures beside it.
 */
const combined: Record<string, string[]> = {
  realtime: ['realtime-simulation', 'realtime', 'realtime-scale'],
  api: ['acceptance', 'plans', 'fold', 'attachments', 'reads'],
}
const FOLDER = new URL('../docs/proof/', import.meta.url)

const [suite] = process.argv.slice(2)
if (!suite) {
  console.error('Which suite? npm run prove -- <suite>, for example realtime')
  process.exit(1)
}
const started = performance.now()
const progress: Progress = (line) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${line}`)

const modules = (combined[suite] ?? [suite])
  .map((name) => new URL(`../tests/prove/${name}.ts`, import.meta.url))
  .filter((url) => existsSync(fileURLToPath(url)))
if (modules.length === 0) {
  console.error(`There is no suite named ${suite}`)
  process.exit(1)
}

// As it stands before the first part: what is changed meanwhile is not what was proven.
const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'packages') ? ' with changes' : '')
const reports: Report[] = []
for (const url of modules) {
  const { prove } = (await import(url.href)) as { prove: (progress: Progress) => Promise<Report> }
  reports.push(await prove(progress))
  // After each part: what was measured is not lost when the next part fails.
  await keep(suite, reports)
}
const violations = reports.flatMap((report) => report.violations)
for (const violation of violations.slice(0, 50)) console.log(`✗ ${violation}`)
console.log(violations.length === 0 ? `✓ ${suite}: no violation` : `✗ ${suite}: ${violations.length} violations`)
process.exit(violations.length === 0 ? 0 : 1)

async function keep(name: string, all: Report[]) {
  await mkdir(FOLDER, { recursive: true })
  const about = {
    commit,
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`,
    seconds: Math.round((performance.now() - started) / 1000),
  }
  await writeFile(new URL(`${name}.md`, FOLDER), markdown(name, about, all))
  const withoutPictures = (key: string, value: unknown) => (key === 'pictures' ? undefined : value)
  await writeFile(
    new URL(`${name}.json`, FOLDER),
    `${JSON.stringify({ ...about, reports: all }, withoutPictures, 2)}\n`,
  )
  for (const picture of all.flatMap((report) => report.sections.flatMap((section) => section.pictures ?? []))) {
    await writeFile(new URL(`${name}-${picture.name}.svg`, FOLDER), picture.svg)
  }
}

function markdown(name: string, about: Record<string, string | number>, all: Report[]): string {
  const lines = [`# Proof: ${name}`, '', `Made by \`npm run prove -- ${name}\`.`, '', ...pairs(about), '']
  for (const { title, setting, sections, violations: found } of all) {
    lines.push(`## ${title}`, '', ...pairs(setting), '')
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
