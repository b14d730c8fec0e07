import type { Card, FullBoard } from '@lockstep/client'
import type { Command } from './command.ts'
import { loadBoard, shortIds } from './find.ts'
import { escapeControlChars, fit, type Paint, widthOf } from './terminal.ts'

export const boards: Command = {
  summary: 'list your boards',
  usage: '',
  async run({ client, paint, print }) {
    const list = await client().listBoards()
    const ids = shortIds(list.map(({ id }) => id))
    print(list, () => {
      if (list.length === 0) return 'No boards yet. Create one: lockstep seed --new Demo'
      const idWidth = Math.max(...[...ids.values()].map((id) => id.length))
      const width = Math.min(50, Math.max(...list.map(({ title }) => widthOf(escapeControlChars(title)))))
      return list
        .map(({ id, title, members }) => {
          const memberCount = members.length === 1 ? 'only you' : `${members.length} members`
          return `${paint('dim', (ids.get(id) ?? id).padEnd(idWidth))}  ${paint('bold', fit(escapeControlChars(title), width))}  ${memberCount}`
        })
        .join('\n')
    })
  },
}

export const show: Command = {
  summary: 'draw a board',
  usage: '<board>',
  async run({ args: [word = ''], client, paint, print }) {
    const board = await loadBoard(client(), word)
    print(board, () => drawBoard(board, process.stdout.columns ?? 100, paint))
  },
}

const GAP = 2
const NARROWEST = 22
const WIDEST = 40

/** Draws the columns side by side, in as many rows as needed. */
export function drawBoard(board: FullBoard, width: number, paint: Paint): string {
  const { columns, members } = board
  const people = members.map(({ user }) => `@${escapeControlChars(user.username)}`).join(' ')
  const head = `${paint('bold', escapeControlChars(board.title))}  ${paint('dim', people)}`
  if (columns.length === 0) return `${head}\n\nNo columns yet.`
  const fitting = Math.max(1, Math.min(columns.length, Math.floor((width + GAP) / (NARROWEST + GAP))))
  const wide = Math.min(WIDEST, Math.floor((width + GAP) / fitting) - GAP)
  const bands = Array.from({ length: Math.ceil(columns.length / fitting) }, (_, i) =>
    columns.slice(i * fitting, (i + 1) * fitting),
  )
  const drawn = bands.map((band) => {
    const stacks = band.map(({ title, is_done_column, cards }) => {
      const name = fit(`${escapeControlChars(title)}${is_done_column ? ' ✓' : ''} (${cards.length})`, wide)
      return [
        paint('bold', name),
        paint('dim', '─'.repeat(wide)),
        ...cards.flatMap((card) => cardLines(card, wide, paint)),
      ]
    })
    const height = Math.max(...stacks.map((lines) => lines.length))
    const rows = Array.from({ length: height }, (_, y) =>
      stacks
        .map((lines) => lines[y] ?? ' '.repeat(wide))
        .join(' '.repeat(GAP))
        .trimEnd(),
    )
    return rows.join('\n')
  })
  return [head, ...drawn].join('\n\n')
}

function cardLines(card: Card, width: number, paint: Paint): string[] {
  const { title, number, due_on, labels, assignees, checklists, attachments } = card
  const items = checklists.flatMap((checklist) => checklist.items)
  const done = items.filter(({ is_done }) => is_done).length
  const details = [
    // An older service sends neither.
    ...(number ? [`#${number}`] : []),
    ...(due_on ? [`due ${due_on}`] : []),
    ...labels.map(({ name }) => `#${escapeControlChars(name)}`),
    ...assignees.map(({ username }) => `@${escapeControlChars(username)}`),
    ...(items.length > 0 ? [`${done}/${items.length}`] : []),
    ...(attachments.length > 0 ? [attachments.length === 1 ? '1 file' : `${attachments.length} files`] : []),
  ].join(' ')
  const lines = wrap(escapeControlChars(title), width - 2).map((line, i) =>
    fit(`${i === 0 ? '• ' : '  '}${line}`, width),
  )
  return details === '' ? lines : [...lines, paint('dim', fit(`  ${details}`, width))]
}

/** Wraps a title to at most two lines. */
function wrap(title: string, width: number): string[] {
  if (widthOf(title) <= width) return [title]
  const words = title.split(' ')
  let first = words.shift() ?? ''
  while (words[0] !== undefined && widthOf(`${first} ${words[0]}`) <= width) first += ` ${words.shift()}`
  return words.length === 0 ? [fit(first, width)] : [fit(first, width).trimEnd(), words.join(' ')]
}
