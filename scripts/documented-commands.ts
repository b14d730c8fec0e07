import { blocksOf } from './documentation.ts'

/** How a command of the documentation is known to work. */
export type Covering =
  /** It is run by tests/documentation.test.ts as it stands, and prints this. */
  | { here: string }
  /** It is started there as it stands, answers under `/health`, and ends when it is told to. */
  | { serves: true }
  /** A file of the repository runs it; `words` stand in that file. */
  | { by: string; words: string }
  /** It cannot be run by a test, for this reason. */
  | { not: string }

/** Whether a piece of `code` in the text is a command. */
const COMMAND =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|curl|git|openssl|docker|kubectl|systemctl|psql|pg_\w+|redis-cli|promtool|haproxy|nginx) \S/

/** The commands of a page: each block of lines that belong together, and each command in the text. */
export function commandsOf(text: string): string[][] {
  const blocks = blocksOf(text).flatMap(({ language, lines }) => {
    if (language === 'console') {
      return [lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))]
    }
    return ['sh', 'bash', 'shell'].includes(language) ? [logicalLines(lines)] : []
  })
  const prose = text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, '')
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' ').trim())
  return [...blocks, ...spans.filter((code) => COMMAND.test(code)).map((code) => [code])]
}

/** Lines as a shell reads them: continued ones joined, comments and empty ones left out. */
function logicalLines(lines: string[]): string[] {
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}

/** Commands that nothing covers, coverings of no command, and coverings that do not hold. */
export function uncovered(
  pages: Map<string, string>,
  registry: Record<string, Covering>,
  read: (file: string) => string | undefined,
): string[] {
  const named = [...pages].flatMap(([page, text]) =>
    commandsOf(text)
      .flat()
      .map((command) => ({ page, command })),
  )
  const all = new Set(named.map(({ command }) => command))
  return [
    ...named
      .filter(({ command }) => !Object.hasOwn(registry, command))
      .map(({ page, command }) => `${page}: nothing runs “${command}”: add it to tests/documented-commands.ts`),
    ...Object.entries(registry).flatMap(([command, covering]) => {
      if (!all.has(command)) return [`“${command}” is in no page any more`]
      if ('not' in covering) return covering.not.length > 10 ? [] : [`“${command}” is not run, and nothing says why`]
      if (!('by' in covering)) return []
      const text = read(covering.by)
      if (text === undefined) return [`“${command}” is run by ${covering.by}, which does not exist`]
      return text.includes(covering.words) ? [] : [`“${command}”: ${covering.by} does not say “${covering.words}”`]
    }),
  ]
}
