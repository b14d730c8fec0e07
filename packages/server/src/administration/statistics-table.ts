import type { AdminAction, Statistics } from '@lockstep/contract/administration'
import type { Invitation } from '@lockstep/contract/invitations'
import type { AccessToken } from '@lockstep/contract/tokens'

/** Statistics as text: one line per figure, then one line per day. */
export function statisticsTable({ users, boards, cards, events, attachments, database_bytes, days }: Statistics) {
  const oldest = events.oldest_at === null ? '' : `, oldest from ${events.oldest_at.slice(0, 10)}`
  const figures: [string, string][] = [
    ['users', `${users.active} active, ${users.inactive} inactive, ${users.erased} erased`],
    ['superusers', String(users.superusers)],
    ['boards', String(boards)],
    ['cards', String(cards)],
    ['events', `${events.count}${oldest}`],
    ['attachments', `${attachments.count}, ${inUnits(attachments.bytes)}`],
    ['database', inUnits(database_bytes)],
  ]
  const lines = figures.map(([name, figure]) => `${name.padEnd(12)} ${figure}`)
  const columns = ['users', 'boards', 'cards', 'events'] as const
  const perDay = days.map((day) => day.date.padEnd(12) + columns.map((name) => String(day[name]).padStart(9)).join(''))
  return [...lines, '', `${'new'.padEnd(12)}${columns.map((name) => name.padStart(9)).join('')}`, ...perDay].join('\n')
}

/** One line per entry: time, actor, action, target, details. */
export const auditTable = (actions: AdminAction[]) =>
  actions
    .map(({ at, actor_id, operator, action, target_id, details }) =>
      [at, actor_id ?? `command line (${operator})`, action, target_id ?? '-', printable(details)].join('  '),
    )
    .join('\n')

/** One line per invitation: id, expiry, what it is to, for whom. */
export const invitationTable = (invitations: Invitation[]) =>
  invitations
    .map(({ id, expires_at, board_id, role, email }) => {
      const to = board_id === null ? 'the service' : `board ${board_id} as ${role}`
      return [id, `until ${expires_at}`, to, email ?? 'for anyone'].join('  ')
    })
    .join('\n')

/** One line per token: id, scope, last characters, last use, expiry, board, name. */
export const tokensTable = (tokens: AccessToken[]) =>
  tokens
    .map(({ id, scope, hint, last_used_at, expires_at, board_id, name }) =>
      [
        id,
        scope.padEnd(5),
        `…${hint}`,
        `last used ${last_used_at?.slice(0, 10) ?? 'never'}`,
        `expires ${expires_at?.slice(0, 10) ?? 'never'}`,
        board_id ? `board ${board_id}` : 'all boards',
        printable(name),
      ].join('  '),
    )
    .join('\n')

/** As JSON, in which control and invisible characters are escaped: a terminal would act on them. */
const printable = (value: unknown) =>
  JSON.stringify(value).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

function inUnits(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
