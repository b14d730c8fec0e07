import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { billOfMaterials, type Lock } from '../scripts/sbom.ts'

const read = (file: string) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
const lock: Lock = read('package-lock.json')
const bill = billOfMaterials(lock)
const named = bill.components.map(({ name, version }) => `${name}@${version}`)

/** What npm itself takes for a tool, or for a part of the demo alone, is not shipped. */
const isTool = (entry: object) => 'dev' in entry || 'devOptional' in entry

test('[SEC-1] it has every dependency of the service and of the web client, in its exact version', () => {
  for (const part of ['server', 'web']) {
    const own: Record<string, string> = read(`packages/${part}/package.json`).dependencies
    const versions = Object.entries(own).filter(([, version]) => version !== '*')
    expect(named).toEqual(expect.arrayContaining(versions.map(([name, version]) => `${name}@${version}`)))
  }
  expect(bill.components.every(({ version }) => /^\d+\.\d+\.\d+/.test(version))).toBe(true)
})

test('[SEC-1] it has no tool, and nothing that npm counts as shipped is missing', () => {
  const tools = bill.components.filter((component) => isTool(lock.packages[component['bom-ref']] ?? {}))
  expect(tools).toEqual([])
  const required = Object.entries(lock.packages).filter(
    ([path, entry]) => path.includes('node_modules/') && !isTool(entry) && !('optional' in entry) && !entry.link,
  )
  const refs = bill.components.map((component) => component['bom-ref'])
  expect(required.map(([path]) => path).filter((path) => !refs.includes(path))).toEqual([])
})

test('[SEC-1] every reference leads to a part, parts are there once, and no host is named', () => {
  const refs = [bill.metadata.component['bom-ref'], ...bill.components.map((component) => component['bom-ref'])]
  expect(new Set(refs).size).toBe(refs.length)
  expect(bill.dependencies.map(({ ref }) => ref).sort()).toEqual([...refs].sort())
  for (const { dependsOn } of bill.dependencies) expect(refs).toEqual(expect.arrayContaining(dependsOn))
  expect(JSON.stringify(bill)).not.toContain('://')
})

test('[SEC-1] the command prints it, the same each time; another version is another bill', () => {
  const printed = execFileSync(process.execPath, ['scripts/sbom.ts'], {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
  })
  expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(bill)))
  const changed = structuredClone(lock)
  Object.assign(changed.packages['node_modules/pg'] ?? {}, { version: '9.0.0' })
  const other = billOfMaterials(changed)
  expect(other.components).toContainEqual(expect.objectContaining({ name: 'pg', version: '9.0.0' }))
  expect(other.serialNumber).not.toBe(bill.serialNumber)
})

test('[SEC-1] a part that the lock file lacks is an error, and not left out', () => {
  const { 'node_modules/pg': _, ...packages } = lock.packages
  expect(() => billOfMaterials({ ...lock, packages })).toThrow(
    'packages/server needs pg, which is not in the lock file',
  )
})

const isExact = (name: string, version: string) =>
  /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) || (name.startsWith('@lockstep/') && version === '*')

test('[SEC-2] versions are exact, nothing names a host, and install scripts run for node alone', () => {
  const manifests = ['', 'packages/cli/', 'packages/client/', 'packages/contract/', 'packages/server/', 'packages/web/']
  const loose = manifests.flatMap((folder) => {
    const { dependencies, devDependencies, optionalDependencies } = read(`${folder}package.json`)
    const all: Record<string, string> = { ...dependencies, ...devDependencies, ...optionalDependencies }
    return Object.entries(all).filter(([name, version]) => !isExact(name, version))
  })
  expect(loose).toEqual([])
  expect(isExact('pg', '^8.0.0') || isExact('pg', '*') || isExact('pg', 'latest')).toBe(false)
  const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
  expect(text).not.toMatch(/"resolved": "\w+:/)
  expect(Object.keys(read('package.json').allowScripts)).toEqual(['node'])
})

test('[SEC-3] every promise of SECURITY.md names rules and tests', () => {
  const page = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8')
  const [, promises = ''] = /## What is promised([\s\S]*?)\n## /.exec(page) ?? []
  const rows = promises.split('\n').filter((line) => /^\| (?!---|What)/.test(line))
  expect(rows.length).toBeGreaterThan(7)
  for (const row of rows) {
    const [, , , rules = '', tests = ''] = row.split('|')
    expect(rules).toMatch(/[A-Z]+-\d+/)
    expect(tests).toMatch(/`[\w/.-]+\.ts`/)
  }
})
