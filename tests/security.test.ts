import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const text = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
const read = (file: string) => JSON.parse(text(file))

interface Locked {
  integrity?: string
  link?: boolean
}
interface Sbom {
  components: { 'bom-ref': string; scope: string; properties?: { name: string }[] }[]
}

test('[SEC-1] the documented command lists every dependency of the service and of the web client as required', () => {
  const [, command = ''] = /^(npm sbom .+) > /m.exec(text('SECURITY.md')) ?? []
  const [npm = '', ...options] = command.split(' ')
  const sbom: Sbom = JSON.parse(execFileSync(npm, options, { cwd: new URL('..', import.meta.url), encoding: 'utf8' }))
  const isTool = ({ properties = [] }: Sbom['components'][number]) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development')
  const required = sbom.components.filter((component) => component.scope === 'required' && !isTool(component))
  const listed = required.map((component) => component['bom-ref'])
  for (const part of ['server', 'web']) {
    const dependencies: Record<string, string> = read(`packages/${part}/package.json`).dependencies
    const exact = Object.entries(dependencies).filter(([, version]) => version !== '*')
    expect(listed).toEqual(expect.arrayContaining(exact.map(([name, version]) => `${name}@${version}`)))
  }
  expect(listed.filter((reference) => /^(vite|esbuild)@/.test(reference))).toEqual([])
})

const isExact = (name: string, version: string) =>
  /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) || (name.startsWith('@lockstep/') && version === '*')

/** Versions by package. An override can apply below a package only. */
interface Versions {
  [name: string]: string | Versions
}
const versionsOf = (versions: Versions): [name: string, version: string][] =>
  Object.entries(versions).flatMap(([name, version]) =>
    typeof version === 'string' ? [[name, version] as [string, string]] : versionsOf(version),
  )

test('[SEC-2] versions are exact, and the lock file has a hash for every package and names no host', () => {
  const manifests = ['', ...globSync('packages/*/', { cwd: ROOT }).map((folder) => `${folder}/`)]
  expect(manifests.length).toBeGreaterThan(7)
  const loose = manifests.flatMap((folder) => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = read(`${folder}package.json`)
    const all: Versions = { ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides }
    return versionsOf(all).filter(([name, version]) => !isExact(name, version))
  })
  expect(loose).toEqual([])
  expect(isExact('pg', '^8.0.0') || isExact('pg', '*') || isExact('pg', 'latest')).toBe(false)
  expect(versionsOf({ pg: '8.0.0', ws: { ms: '*' } })).toEqual([
    ['pg', '8.0.0'],
    ['ms', '*'],
  ])

  const { packages }: { packages: Record<string, Locked> } = read('package-lock.json')
  const downloaded = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  expect(downloaded.length).toBeGreaterThan(400)
  const isHashed = ({ integrity }: Locked) => /^sha512-[\w+/]{86}==$/.test(integrity ?? '')
  expect(downloaded.filter(([, entry]) => !isHashed(entry)).map(([path]) => path)).toEqual([])
  expect(text('package-lock.json')).not.toMatch(/"resolved": "\w+:/)
})

test('[SEC-3] every row of SECURITY.md names rules and tests', () => {
  const [, promises = ''] = /## What is promised([\s\S]*?)\n## /.exec(text('SECURITY.md')) ?? []
  const rows = promises.split('\n').filter((line) => /^\| (?!---|Asset)/.test(line))
  expect(rows.length).toBeGreaterThan(7)
  for (const row of rows) {
    const [, , , rules = '', tests = ''] = row.split('|')
    expect(rules).toMatch(/[A-Z]+-\d+/)
    expect(tests).toMatch(/`[\w/.-]+\.ts`/)
  }
})
