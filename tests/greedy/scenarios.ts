import type { Amount, AttackName } from './attacks.ts'
import type { Preparation } from './prepare.ts'

/** One account or address that uses more than its share. */
export interface Scenario {
  name: string
  title: string
  attack: AttackName
  /** The original size, and one that is small enough for every test run. */
  full: { prepare?: Preparation; amount: Amount }
  /** Omitted if another scenario of every test run covers the same defense. */
  small?: { prepare?: Preparation; amount: Amount }
  settings?: Record<string, string>
  instances?: number
  /** What a quota limits: the stored bytes of the attacker's board, and the limit after a time. */
  quota?: { what: string; query: string; limitBytes: (ms: number) => number }
}

const MEBIBYTE = 2 ** 20

export const scenarios: Scenario[] = [
  {
    name: 'history',
    title: 'history pages of up to 345 events of 1.57 MB, three at once',
    attack: 'history',
    full: { prepare: { cards: 4, text: 'control', renames: 345 }, amount: { many: 3, atLeast: 3 } },
  },
  {
    name: 'resume',
    title: 'sockets that resume over and over behind 345 events of 1.57 MB',
    attack: 'resume',
    full: { prepare: { cards: 4, text: 'control', renames: 345 }, amount: { many: 16, everyMs: 500, atLeast: 16 } },
    small: { prepare: { cards: 4, text: 'control', renames: 50 }, amount: { many: 16, everyMs: 500, atLeast: 16 } },
  },
  {
    name: 'unread-boards',
    title: '40 uncompressed reads of a board of 66 MB by clients that read nothing',
    attack: 'unreadBoards',
    full: { prepare: { cards: 1_000 }, amount: { many: 40, everyMs: 100 } },
    small: { prepare: { cards: 200 }, amount: { many: 80, everyMs: 10 } },
  },
  {
    name: 'wrong-lists',
    title: 'a list of 524,000 wrong items every second',
    attack: 'wrongLists',
    full: { amount: { many: 1, everyMs: 1_000, atLeast: 3 } },
  },
  {
    name: 'wrong-lists-at-once',
    title: 'lists of 524,000 wrong items, three at once',
    attack: 'wrongLists',
    full: { amount: { many: 3, everyMs: 200, atLeast: 6 } },
    small: { amount: { many: 3, everyMs: 200, atLeast: 6 } },
  },
  {
    name: 'slow-uploads',
    title: '2,700 uploads of one account, a byte every two seconds',
    attack: 'slowUploads',
    full: { amount: { many: 2_700, everyMs: 2_000 } },
    small: { amount: { many: 540, everyMs: 500 } },
  },
  {
    name: 'slow-bodies',
    title: '2,700 JSON bodies of one account, a byte every two seconds',
    attack: 'slowBodies',
    full: { amount: { many: 2_700, everyMs: 2_000 } },
  },
  {
    name: 'slow-logins',
    title: '1,400 login forms from one address, a byte every two seconds',
    attack: 'slowLogins',
    full: { amount: { many: 1_400, everyMs: 2_000 } },
    small: { amount: { many: 280, everyMs: 500 } },
  },
  {
    name: 'history-readers',
    title: '12 readers of a history of 66 MB',
    attack: 'history',
    full: { prepare: { cards: 5, renames: 200 }, amount: { many: 12, atLeast: 12 } },
  },
  {
    name: 'board-lists',
    title: 'lists of 1,450 boards with descriptions, 12 at once',
    attack: 'boardLists',
    full: { prepare: { boards: 1_450 }, amount: { many: 12, atLeast: 6 } },
  },
  {
    name: 'searches',
    title: '12 searches at once in 1,500 cards of 64 KiB',
    attack: 'searches',
    full: { prepare: { cards: 1_500 }, amount: { many: 12, atLeast: 12 } },
    small: { prepare: { cards: 200 }, amount: { many: 40, atLeast: 12 } },
  },
  {
    name: 'uploads',
    title: 'files of 10 MiB, two at once',
    attack: 'uploads',
    full: { amount: { many: 10 * MEBIBYTE - 1_000, atLeast: 12 } },
    // A sixteenth of the default, which would take a minute to fill. Two uploads may be under way beyond it.
    settings: { MAX_BOARD_FILE_BYTES: String(64 * MEBIBYTE) },
    quota: {
      what: 'files',
      query: 'select sum(octet_length(bytes)) as value from file_chunks where board_id = $1',
      limitBytes: () => (64 + 2 * 10) * MEBIBYTE,
    },
  },
  {
    name: 'renames',
    title: 'renames of a column of 200 cards with 64 KiB of random text',
    attack: 'renames',
    full: { prepare: { cards: 200, text: 'random' }, amount: { many: 1, atLeast: 12 } },
    // 64 MiB at once, and as much again in every minute; the event that fills it may exceed it.
    quota: {
      what: 'log',
      query: 'select sum(octet_length(body)) as value from board_events where board_id = $1',
      limitBytes: (ms) => (64 * (1 + ms / 60_000) + 13) * MEBIBYTE,
    },
  },
  {
    name: 'right-logins',
    title: 'one account that logs in rightly, 300 at once',
    attack: 'rightLogins',
    full: { amount: { many: 300, everyMs: 1_500, atLeast: 100 } },
    small: { amount: { many: 40, everyMs: 200, atLeast: 100 } },
  },
  {
    name: 'sockets',
    title: 'one account that opens 600 sockets where 500 are allowed',
    attack: 'sockets',
    full: { amount: { many: 600, everyMs: 5, atLeast: 550 } },
    small: { amount: { many: 130, everyMs: 2, atLeast: 130 } },
    settings: { MAX_SOCKETS: '500' },
  },
  {
    name: 'large-events',
    title: 'renames of a column of 600 cards of 64 KiB, seen at two instances',
    attack: 'watchedRenames',
    full: { prepare: { cards: 600 }, amount: { many: 1, everyMs: 2_000, atLeast: 3 } },
    small: { prepare: { cards: 60 }, amount: { many: 1, everyMs: 300, atLeast: 3 } },
    instances: 2,
  },
  {
    name: 'large-forms',
    title: 'forms of 1 MiB to the login from one address, six at once',
    attack: 'largeForms',
    full: { amount: { many: 6, atLeast: 24 } },
    small: { amount: { many: 6, atLeast: 24 } },
  },
  {
    name: 'long-emails',
    title: 'registrations with an e-mail address of 1 MiB from one address, six at once',
    attack: 'longEmails',
    full: { amount: { many: 6, atLeast: 24 } },
  },
]
