import { globSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** All documentation pages by path, except the changelog, which describes the past. */
export function readPages(): Map<string, string> {
  const patterns = ['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/README.md']
  return new Map(
    globSync(patterns, { exclude: ['CHANGELOG.md', '**/node_modules/**'] })
      .sort()
      .map((file) => [file, readFileSync(file, 'utf8')]),
  )
}

/** Every file of the repository, except installed and generated folders. */
export function readFiles(): string[] {
  const excluded = new Set(['node_modules', 'dist', '.git', '.test-output', 'coverage', 'release'])
  const filesIn = (folder: string): string[] =>
    readdirSync(folder || '.', { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return excluded.has(entry.name) ? [] : filesIn(path)
      return [path]
    })
  return filesIn('')
}

const FENCE = /^( *)(```+)(.*)\n([\s\S]*?)^\1\2 *$/gm
interface Block {
  language: string
  lines: string[]
}
const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, indent = '', , info = '', body = '']) => ({
    language: info.trim().split(' ')[0] ?? '',
    lines: body.split('\n').map((line) => line.slice(indent.length)),
  }))
const proseOf = (text: string) => text.replaceAll(FENCE, '').replaceAll(/<!--[\s\S]*?-->/g, '')
const spansOf = (text: string) => [...proseOf(text).matchAll(/`([^`]+)`/g)].map(([, code]) => flat(code ?? ''))
const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** The anchors of a page, as GitHub derives them from headings. */
function anchorsOf(text: string): Set<string> {
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

/** Broken links and images. Of external URLs only the syntax is checked, so that no test depends on other sites. */
export function brokenLinks(pages: Map<string, string>, files: string[]): string[] {
  const known = withFolders(files)
  return [...pages].flatMap(([page, text]) =>
    [
      ...proseOf(text)
        .replaceAll(/`[^`]*`/g, '')
        .matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g),
    ].flatMap(([, target = '']) => {
      if (/^\w+:/.test(target)) return URL.canParse(target) ? [] : [`${page}: ${target} is not a valid URL`]
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '')
      if (!known.has(file)) return [`${page}: ${target} does not exist`]
      if (anchor === undefined) return []
      const other = pages.get(file)
      return other && anchorsOf(other).has(anchor) ? [] : [`${page}: no heading for ${target}`]
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

/** Paths that exist only after a build. */
const BUILT = /(^|\/)dist(\/|$)/
const PATH = /^(?:[\w.@*{},<>-]+\/)+(?:[\w.@*{},<>-]+)?$|^[\w.-]+\.(?:tsx?|md|json|sql|lua|ya?ml|svg|png|css|html|cdx)$/
const ENDING = /\.(?:tsx?|js|md|json|jsonl|sql|lua|ya?ml|svg|png|css|html|conf|service|sh)$/
/** Folders that a path may be relative to, besides the folder of its page. */
const ROOTS = ['', 'packages/server/src/', 'packages/web/src/', 'packages/client/src/', 'packages/server/']

/** Paths in `code` that do not exist. `<x>` and `*` match any name, `{a,b}` one of several. */
export function missingPaths(pages: Map<string, string>, files: string[], external: string[] = []): string[] {
  const known = [...withFolders(files)]
  const tops = new Set(known.map((path) => path.split('/')[0]))
  const exists = (page: string, path: string) => {
    const pattern = path
      .replace(/\/$/, '')
      .replaceAll(/[.+^$()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/<[^>]*>|\*\*?/g, '[^/]*')
      .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.split(',').join('|')})`)
    const starts = [...ROOTS, `${posix.dirname(page)}/`].map((root) => root.replaceAll('.', String.raw`\.`))
    // A bare name matches a file in any folder.
    const expression = path.includes('/') ? `^(?:${starts.join('|')})${pattern}$` : `(?:^|/)${pattern}$`
    return known.some((file) => new RegExp(expression).test(file))
  }
  return [...pages].flatMap(([page, text]) =>
    [...new Set(spansOf(text))]
      .filter((span) => PATH.test(span) && !BUILT.test(span) && !external.includes(span))
      .filter((span) => ENDING.test(span) || tops.has(span.split('/')[0] ?? ''))
      .filter((span) => !exists(page, span))
      .map((span) => `${page}: ${span} does not exist`),
  )
}

/** References to rules and known weaknesses that do not exist. */
export function unknownRules(pages: Map<string, string>, rules: string, weaknesses: string): string[] {
  const defined = new Set([...rules.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id as string))
  const prefixes = new Set([...defined].map((id) => id.split('-')[0]))
  const listed = new Set([...weaknesses.matchAll(/^\| (V\d\d) \|/gm)].map(([, id]) => id as string))
  return [...pages].flatMap(([page, text]) => [
    ...idsOf(proseOf(text), /\b[A-Z]+-\d+\b/g)
      .filter((id) => prefixes.has(id.split('-')[0] ?? '') && !defined.has(id))
      .map((id) => `${page}: unknown rule ${id}`),
    ...idsOf(proseOf(text), /\bV\d\d\b/g)
      .filter((id) => !listed.has(id))
      .map((id) => `${page}: unknown weakness ${id}`),
  ])
}
const idsOf = (text: string, pattern: RegExp) => [...new Set(text.match(pattern) ?? [])]

/** Upper-case names in `code` that are neither settings nor in the sources. */
export function unknownSettings(pages: Map<string, string>, settings: string[], sources: string): string[] {
  return [...pages].flatMap(([page, text]) => {
    const commands = blocksOf(text).filter(({ language }) => language === 'sh')
    const code = [...spansOf(text), ...commands.flatMap(({ lines }) => lines)].join('\n')
    return idsOf(code, /(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g)
      .filter((name) => !settings.includes(name) && !new RegExp(`\\b${name}\\b`).test(sources))
      .map((name) => `${page}: unknown setting ${name}`)
  })
}

/** `npm run …` of scripts that do not exist, in the root or a workspace. */
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
            : [`${page}: unknown script: npm run ${name} ${workspace}`.trimEnd()]
        },
      ),
    )
  })
}

interface Program {
  /** What is before the name of a command. */
  called: RegExp
  /** The options of each command. */
  commands: Record<string, string[]>
}
/** Commands of these programs that do not exist, and options that their commands do not have. */
export function unknownOptions(pages: Map<string, string>, programs: Program[]): string[] {
  return [...pages].flatMap(([page, text]) => {
    const code = [...spansOf(text), ...blocksOf(text).flatMap(({ lines }) => lines)]
    return programs.flatMap(({ called, commands }) =>
      code.flatMap((line) =>
        [...line.matchAll(new RegExp(`(${called.source})([a-z][\\w-]*)([^|&;#]*)`, 'g'))].flatMap(
          ([, prefix = '', name = '', rest = '']) => {
            const options = commands[name]
            if (!options) return [`${page}: unknown command: ${prefix}${name}`]
            const unknown = (rest.match(/(?<=\s)--[a-z][\w-]*/g) ?? []).filter((option) => !options.includes(option))
            return unknown.map((option) => `${page}: unknown option: ${prefix}${name} ${option}`)
          },
        ),
      ),
    )
  })
}

/** Pages that the index links neither directly nor by their folder. */
export function unlistedPages(pages: Map<string, string>, index: string): string[] {
  const targets = [...(pages.get(index) ?? '').matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) =>
    posix.join(posix.dirname(index), path),
  )
  return [...pages.keys()]
    .filter((page) => page !== index && !targets.some((target) => page === target || page.startsWith(`${target}/`)))
    .map((page) => `${index} does not link to ${page}`)
}
