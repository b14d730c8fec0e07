import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

type Rule = [importer: RegExp, forbidden: RegExp, reason: string]

/** The folders of the server below its domains, from the bottom up. A folder imports only folders that come before it. */
const LAYERS = ['platform', 'telemetry', 'database', 'security', 'core', 'jobs', 'config', 'http']
const layers: Rule[] = LAYERS.map((folder, i) => [
  new RegExp(`^packages/server/src/${folder}/`),
  new RegExp(`^packages/server/src/(?!(?:${LAYERS.slice(0, i + 1).join('|')})/)`),
  `${folder}/ is below what it imports`,
])

/** The folders of the web client, from the bottom up, and the files that all of them may import. */
const WEB_FOLDERS = ['ui', 'board-state', 'account', 'bell', 'settings', 'shortcuts', 'palette', 'boards', 'inbox']
const WEB_DIALOGS = ['activity', 'automations', 'webhooks', 'members', 'card']
/** Above the dialogs: what combines parts of them. */
const WEB_UPPER = ['comments', 'removed', 'card-dialog', 'board']
const WEB_SHARED = '(?:session|login|preferences|offline-cache)\\.ts$'
const webFolders: Rule[] = [...WEB_FOLDERS, ...WEB_DIALOGS, ...WEB_UPPER].map((folder, i, all) => {
  const below = WEB_DIALOGS.includes(folder) ? [...WEB_FOLDERS, folder] : all.slice(0, i + 1)
  return [
    new RegExp(`^packages/web/src/${folder}/`),
    new RegExp(`^packages/web/src/(?!(?:${below.join('|')})/|${WEB_SHARED})`),
    `${folder}/ is below what it imports`,
  ]
})

/** Which files must not import which, and why. */
const rules: Rule[] = [
  [/^packages\/contract\//, /^(?!packages\/contract\/|typebox$)/, 'the contract depends on nothing but TypeBox'],
  [/^packages\/client\//, /^(?!packages\/client\/|react(\/|$))/, 'the client has no dependencies, not even for types'],
  [
    /^packages\/cli\//,
    /^(?!packages\/(cli|client)\/|node:)/,
    'the command line uses the client library and nothing else',
  ],
  [
    /^packages\/web\//,
    /^packages\/(?!web\/|client\/src\/(index|days|live|react|describe)\.ts)|^node:/,
    'the web client uses the client library and nothing else of ours',
  ],
  ...webFolders,
  ...layers,
  [/^packages\/server\/src\/(?!app\.ts)/, /-operations\.ts$/, 'domains share queries and steps, never operations'],
  [
    /-queries\.ts$/,
    /^fastify|server\/src\/http\/|core\/(change-board|authorize|event-log)\.ts$/,
    'queries know the database, and nothing of HTTP or events',
  ],
  [
    /^packages\/server\/src\/realtime\//,
    new RegExp(`^packages/server/src/(?!(?:${LAYERS.join('|')}|realtime)/)`),
    'real time depends on no domain',
  ],
  [/^packages\/server\/src\/(?!main\.ts)/, /^packages\/server\/src\/app\.ts$/, 'only main imports the whole'],
  [
    /^packages\/(?!testing\/)\w+\/src\//,
    /^packages\/\w+\/testing\/|^packages\/testing\/|^tests\/|^scripts\/|^vitest$/,
    'the product does not import its tests',
  ],
  [/^packages\/testing\//, /^(tests|bench|scripts)\//, 'tests and benchmarks build on the toolkit'],
  [/^bench\//, /^tests\//, 'benchmarks use the toolkit, not the tests'],
  [/^tests\//, /^bench\//, 'tests use the toolkit, not the benchmarks'],
]

export type Imports = Map<string, string[]>

/** The imports of each source file, by path in the repository or by package name. */
export function readImports(): Imports {
  const files = globSync(['packages/*/src/**/*.{ts,tsx}', '{bench,tests}/**/*.ts']).filter(
    (file) => !/^packages.*\.test\.ts$/.test(file),
  )
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

/** Every import that breaks a rule, and every import cycle within packages/. */
export function brokenImports(imports: Imports): string[] {
  const broken = rules.flatMap(([importer, forbidden, reason]) =>
    [...imports]
      .filter(([file]) => importer.test(file))
      .flatMap(([file, to]) => to.filter((t) => forbidden.test(t)).map((t) => `${file} imports ${t}: ${reason}`)),
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
  for (const file of imports.keys()) if (file.startsWith('packages/')) visit(file, [])
  return found
}
