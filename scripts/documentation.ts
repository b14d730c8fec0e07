import { globSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** The pages that people read, by path. The changelog is about the past. */
export function readPages(): Map<string, string> {
  const patterns = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'packages/*/README.md']
  return new Map(
    globSync(patterns)
      .sort()
      .map((file) => [file, readFileSync(file, 'utf8')]),
  )
}

/** Every file of the repository, without what is installed or built. */
export function readFiles(): string[] {
  const foreign = new Set(['node_modules', 'dist', '.git', '.test-output', 'coverage'])
  const below = (folder: string): string[] =>
    readdirSync(folder || '.', { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return foreign.has(entry.name) ? [] : below(path)
      return [path]
    })
  return below('')
}

const FENCE = /^( *)(```+)(.*)\n([\s\S]*?)^\1\2 *$/gm
export interface Block {
  language: string
  lines: string[]
}
export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, indent = '', , info = '', body = '']) => ({
    language: info.trim().split(' ')[0] ?? '',
    lines: body.split('\n').map((line) => line.slice(indent.length)),
  }))
const proseOf = (text: string) => text.replaceAll(FENCE, '').replaceAll(/<!--[\s\S]*?-->/g, '')
const spansOf = (text: string) => [...proseOf(text).matchAll(/`([^`]+)`/g)].map(([, code]) => flat(code ?? ''))
const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** The anchors of a page, as GitHub makes them of its headings. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  return new Set(
    [...proseOf(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
      const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const slug = words.replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '').replaceAll(' ', '-')
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return times === 0 ? slug : `${slug}-${times}`
    }),
  )
}

/** Links and pictures that lead nowhere. Of what is elsewhere only the form is judged: no test depends on other sites. */
export function brokenLinks(pages: Map<string, string>, files: string[]): string[] {
  const known = withFolders(files)
  return [...pages].flatMap(([page, text]) =>
    [
      ...proseOf(text)
        .replaceAll(/`[^`]*`/g, '')
        .matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g),
    ].flatMap(([, target = '']) => {
      if (/^\w+:/.test(target)) return URL.canParse(target) ? [] : [`${page}: ${target} is no address`]
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '')
      if (!known.has(file)) return [`${page}: there is no ${target}`]
      if (anchor === undefined) return []
      const other = pages.get(file)
      return other && anchorsOf(other).has(anchor) ? [] : [`${page}: there is no heading for ${target}`]
    }),
  )
}

function withFolders(files: string[]): Set<string> {
  const known = new Set(files)
  for (const file of files) {
    for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) known.add(folder)
  }
  return known
}

/** What is there only after something was built. */
const BUILT = /(^|\/)dist(\/|$)/
const PATH = /^(?:[\w.@*{},<>-]+\/)+(?:[\w.@*{},<>-]+)?$|^[\w.-]+\.(?:tsx?|md|json|sql|lua|ya?ml|svg|png|css|html|cdx)$/
const ENDING = /\.(?:tsx?|js|md|json|jsonl|sql|lua|ya?ml|svg|png|css|html|conf|service|sh)$/
/** Where a path may begin: at the root, beside its page, or in one of the folders of sources. */
const ROOTS = ['', 'packages/server/src/', 'packages/web/src/', 'packages/client/src/', 'packages/server/']

/** Names of files and folders, in `code`, that are not there. `<x>` and `*` stand for any name, `{a,b}` for one of several. */
export function missingPaths(pages: Map<string, string>, files: string[], elsewhere: string[] = []): string[] {
  const known = [...withFolders(files)]
  const tops = new Set(known.map((path) => path.split('/')[0]))
  const isThere = (page: string, path: string) => {
    const pattern = path
      .replace(/\/$/, '')
      .replaceAll(/[.+^$()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/<[^>]*>|\*\*?/g, '[^/]*')
      .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.split(',').join('|')})`)
    const starts = [...ROOTS, `${posix.dirname(page)}/`].map((root) => root.replaceAll('.', String.raw`\.`))
    // A bare name stands for a file anywhere: the reader finds it by its name.
    const expression = path.includes('/') ? `^(?:${starts.join('|')})${pattern}$` : `(?:^|/)${pattern}$`
    return known.some((file) => new RegExp(expression).test(file))
  }
  return [...pages].flatMap(([page, text]) =>
    [...new Set(spansOf(text))]
      .filter((span) => PATH.test(span) && !BUILT.test(span) && !elsewhere.includes(span))
      .filter((span) => ENDING.test(span) || tops.has(span.split('/')[0] ?? ''))
      .filter((span) => !isThere(page, span))
      .map((span) => `${page}: there is no ${span}`),
  )
}

/** Rules and known weaknesses that are named and do not exist. */
export function unknownRules(pages: Map<string, string>, rules: string, weaknesses: string): string[] {
  const defined = new Set([...rules.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id as string))
  const prefixes = new Set([...defined].map((id) => id.split('-')[0]))
  const listed = new Set([...weaknesses.matchAll(/^\| (V\d\d) \|/gm)].map(([, id]) => id as string))
  return [...pages].flatMap(([page, text]) => [
    ...idsOf(proseOf(text), /\b[A-Z]+-\d+\b/g)
      .filter((id) => prefixes.has(id.split('-')[0] ?? '') && !defined.has(id))
      .map((id) => `${page}: there is no rule ${id}`),
    ...idsOf(proseOf(text), /\bV\d\d\b/g)
      .filter((id) => !listed.has(id))
      .map((id) => `${page}: there is no known weakness ${id}`),
  ])
}
const idsOf = (text: string, pattern: RegExp) => [...new Set(text.match(pattern) ?? [])]

/** Names in capitals, in `code`, that are neither settings nor anywhere in the sources. */
export function unknownSettings(pages: Map<string, string>, settings: string[], sources: string): string[] {
  return [...pages].flatMap(([page, text]) => {
    const commands = blocksOf(text).filter(({ language }) => language === 'sh')
    const code = [...spansOf(text), ...commands.flatMap(({ lines }) => lines)].join('\n')
    return idsOf(code, /(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g)
      .filter((name) => !settings.includes(name) && !new RegExp(`\\b${name}\\b`).test(sources))
      .map((name) => `${page}: there is no setting ${name}`)
  })
}

/** `npm run …` of a script that does not exist, at the root or in a workspace. */
export function unknownScripts(pages: Map<string, string>, scripts: Record<string, string[]>): string[] {
  return [...pages].flatMap(([page, text]) => {
    const code = [...spansOf(text), ...blocksOf(text).flatMap(({ lines }) => lines)]
    return code.flatMap((line) =>
      [...line.matchAll(/\bnpm (?:run(?: --?[\w-]+)* ([\w:-]+)|(test|start)\b)([^&|;#]*)/g)].flatMap(
        ([, named, usual, rest = '']) => {
          const name = named ?? usual ?? ''
          const workspace = /^[^-]*-w (\S+)/.exec(rest)?.[1] ?? ''
          return scripts[workspace]?.includes(name)
            ? []
            : [`${page}: there is no npm run ${name} ${workspace}`.trimEnd()]
        },
      ),
    )
  })
}

/** How much of a page a reader sees before he decides to go on. */
const FIRST_LINES = 45
const wanted: [what: string, sign: RegExp][] = [
  ['what it is', /\bboards?\b/],
  ['for whom it is', /\bfor\b[^.]*\b(developers|operators|teams|people)\b/i],
  ['what it guarantees', /\b(guarantees|promises)\b/i],
  ['how to start', /```sh\n[^`]*npm run demo/],
  ['a picture', /!\[[^\]]+\]\([^)]+\)/],
]

/** What the first screen of the README leaves out. */
export function missingAtFirst(readme: string): string[] {
  const first = readme.split('\n').slice(0, FIRST_LINES).join('\n')
  return wanted.filter(([, sign]) => !sign.test(first)).map(([what]) => `the first screen of the README lacks ${what}`)
}

/** Pages to which the index leads neither by themselves nor by their folder. */
export function unlistedPages(pages: Map<string, string>, index: string): string[] {
  const targets = [...(pages.get(index) ?? '').matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) =>
    posix.join(posix.dirname(index), path),
  )
  return [...pages.keys()]
    .filter((page) => page !== index && !targets.some((target) => page === target || page.startsWith(`${target}/`)))
    .map((page) => `${index} does not lead to ${page}`)
}
