import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Who never imports what, and why. The order of the list is the order of the dependency arrows. */
const never: [who: RegExp, what: RegExp, why: string][] = [
  [/^packages\/contract\//, /^(?!packages\/contract\/|typebox$)/, 'the contract depends on nothing but TypeBox'],
  [/^packages\/client\//, /^(?!packages\/client\/|react(\/|$))/, 'the client has no dependency, its types included'],
  [
    /^packages\/cli\//,
    /^(?!packages\/(cli|client)\/|node:)/,
    'the command line is a user of the client library, and of nothing else',
  ],
  [
    /^packages\/web\//,
    /^packages\/(?!web\/|client\/src\/(index|live|react)\.ts)|^node:/,
    'the web client is a user of the client library, and knows nothing else of ours',
  ],
  [/^packages\/server\/src\/core\//, /^packages\/server\/src\/(?!core\/)/, 'core never knows a domain'],
  [
    /^packages\/server\/src\/(?!app\.ts)/,
    /-operations\.ts$/,
    'domains meet through queries and steps, never through operations',
  ],
  [
    /-queries\.ts$/,
    /^fastify|core\/(serve|change|access|errors)\.ts$/,
    'queries know the database, and nothing of HTTP or events',
  ],
  [
    /^packages\/server\/src\/realtime\//,
    /^packages\/server\/src\/(?!core\/|realtime\/)/,
    'real time rests on core alone',
  ],
  [/^packages\/server\/src\/(?!main\.ts)/, /^packages\/server\/src\/app\.ts$/, 'nobody but main imports the whole'],
  [
    /^packages\/\w+\/src\//,
    /^packages\/\w+\/testing\/|^tests\/|^scripts\/|^vitest$/,
    'the product does not know its tests',
  ],
]

export type Imports = Map<string, string[]>

/** What each source file of the product imports, by path in the repository or by package name. */
export function readImports(): Imports {
  const files = globSync('packages/*/src/**/*.{ts,tsx}').filter((file) => !file.endsWith('.test.ts'))
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(file, 'utf8'))]))
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\b[^'"]*from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm)].map(
    (found) => {
      const name = (found[1] ?? found[2] ?? found[3]) as string
      if (name.startsWith('.')) return normalize(join(dirname(file), name))
      const own = /^@lockstep\/(\w+)(?:\/(.+))?$/.exec(name)
      return own ? `packages/${own[1]}/src/${own[2] ?? 'index'}.ts` : name
    },
  )
}

/** Every import that breaks a rule, and every cycle, each as a sentence. */
export function brokenImports(imports: Imports): string[] {
  const broken = never.flatMap(([who, what, why]) =>
    [...imports]
      .filter(([file]) => who.test(file))
      .flatMap(([file, to]) => to.filter((t) => what.test(t)).map((t) => `${file} imports ${t}: ${why}`)),
  )
  return [...broken, ...cycles(imports)]
}

function cycles(imports: Imports): string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      found.push(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      return
    }
    state.set(file, 'open')
    for (const to of imports.get(file) ?? []) if (imports.has(to)) visit(to, [...path, file])
    state.set(file, 'done')
  }
  for (const file of imports.keys()) visit(file, [])
  return found
}
