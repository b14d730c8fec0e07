import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LiveBoard } from '../../../client/src/live/live-board.ts'
import type { CoreClass } from './sync-simulation.ts'

type Mutation = [original: string, mutated: string]
type Purpose = 'core' | 'driver' | 'conditional'

const source = new URL('../../../client/src/live/', import.meta.url)
const output = new URL('../../../../.test-output/', import.meta.url)
const folderOf = (purpose: Purpose) => new URL(`sync-mutants-${purpose}/`, output)

/** Copies the live board's source, applies mutations to one file, and imports the entry file of the copy. */
async function load(purpose: Purpose, name: string, file: string, mutations: Mutation[], entry: string) {
  const folder = new URL(`${name.replaceAll(' ', '-')}/`, folderOf(purpose))
  mkdirSync(folder, { recursive: true })
  for (const each of readdirSync(source).filter((other) => !other.endsWith('.test.ts')))
    copyFileSync(new URL(each, source), new URL(each, folder))
  for (const each of ['parse-json.ts', 'random-id.ts'])
    copyFileSync(new URL(`../${each}`, source), new URL(`../${each}`, folder))
  const target = new URL(file, folder)
  const text = mutations.reduce(
    (before, [original, mutated]) => {
      if (!before.includes(original)) throw new Error(`${file} no longer contains: ${original}`)
      return before.replace(original, mutated)
    },
    readFileSync(target, 'utf8'),
  )
  writeFileSync(target, text)
  return (await import(fileURLToPath(new URL(entry, folder)))) as unknown
}

export async function mutantCore(name: string, mutations: Mutation[]): Promise<CoreClass> {
  const { BoardCore } = (await load('core', name, 'core.ts', mutations, 'core.ts')) as { BoardCore: CoreClass }
  return BoardCore
}
export async function mutantBoard(
  name: string,
  file: string,
  original: string,
  mutated: string,
  purpose: Purpose = 'driver',
): Promise<typeof LiveBoard> {
  const loaded = await load(purpose, name, file, [[original, mutated]], 'live-board.ts')
  return (loaded as { LiveBoard: typeof LiveBoard }).LiveBoard
}
export const removeMutants = (purpose: Purpose) => rmSync(folderOf(purpose), { recursive: true, force: true })

/** Defects seeded into the driver: connection, sender and conditional updates. The simulation must detect each. */
export const driverMutations: Record<string, [file: string, original: string, mutated: string]> = {
  'a silent connection is not detected': [
    'connection.ts',
    'if (this.#socket && this.#isReady && (',
    'if (this.#isReady && !this.#socket && (',
  ],
  'missing events are not fetched': [
    'connection.ts',
    "if (this.#core.missing !== 'nothing') void this.#fetchMissing()",
    '',
  ],
  'clients do not reconnect': ['connection.ts', '() => void this.#connect(),', '() => {},'],
  'failed requests are not retried': [
    'sender.ts',
    "schedule('send', waitMs, () => this.#resume())",
    "schedule('send', waitMs, () => {})",
  ],
  'a retry has a new idempotency key': [
    'sender.ts',
    'this.#connection.request(change.name, input, { idempotencyKey })',
    'this.#connection.request(change.name, input, { idempotencyKey: idempotencyKey + attempts })',
  ],
  'expected fields are not compared': ['conditional-update.ts', 'if (current) return { current }', ''],
  'conditional updates are sent unconditionally': [
    'conditional-update.ts',
    'change.input, ifMatch)',
    "change.input, '*')",
  ],
  'a stored response is not requested first': [
    'conditional-update.ts',
    'mayBeApplied ? NO_MATCH : undefined',
    'undefined',
  ],
  'an older response replaces the stored board': ['connection.ts', '(loaded && !isBefore(loaded, at))', 'loaded'],
  'the stored board is not shown offline': [
    'connection.ts',
    'if (status === 0 || status === 429 || status >= 500) await this.#loadStored(stored)',
    '',
  ],
  'timers are not cancelled': ['connection.ts', 'for (const cancel of this.#timers.values()) cancel()', ''],
  'events after a reconnect get the first epoch': [
    'connection.ts',
    '    this.#epoch = epoch\n',
    '    this.#epoch ||= epoch\n',
  ],
}

/** Defects seeded into the core. The simulation must detect each. */
export const coreMutations: Record<string, Mutation[]> = {
  'events of the own user are skipped': [
    [
      'this.base = applyEvent(before, event)',
      'this.base = event.user_id === this.userId ? before : applyEvent(before, event)',
    ],
  ],
  'gaps are not detected': [
    [
      '    this.#outOfOrder.set(event.seq, event)\n    if (this.base) this.#applyInOrder()',
      '    if (this.base) this.#apply(event)',
    ],
  ],
  'a change is removed with its response': [['!position || isBefore(this.position, position)', '!position']],
  'a position is an index without a neighbour': [['before ? withAnchor(before, change) : change', 'change']],
  'the own event is not recognized': [['operation.isReflected = (', 'operation.isReflected = false && (']],
  'every event of the user counts as own': [['attempts > 0 && isDoneBy(change, event)', 'true']],
  'no event counts as own': [['attempts > 0 && isDoneBy(change, event)', 'attempts > 9 && isDoneBy(change, event)']],
  'a rejected change stays': [['this.pending = this.pending.filter((other) => other !== operation)', '']],
  'an older board replaces a newer one': [['if (this.base && isBefore(position, this.position)) return', '']],
  'an older board decides about a change': [['!isShared && !isBefore(this.position, base)', '!isShared']],
  'a change does not depend on earlier ones': [['other.base = laterOf(other.base, position)', '']],
  'the base of a change is not recorded': [
    ['laterOf(known, position), this.position)', 'laterOf(known, position), { epoch: 0, seq: 0 })'],
  ],
  'epochs are not distinguished': [['this.head.epoch !== this.position.epoch || ', '']],
  'a second change is sent before the first response': [
    ["first?.state === 'queued' ? first : undefined", "this.pending.find(({ state }) => state === 'queued')"],
  ],
  'the text of a rejected change is lost': [['text: textOf(change)', "text: ''"]],
  'equal parts lose their identity': [
    [
      '    this.#rendered = share(this.#rendered, board)',
      '    this.#rendered = JSON.parse(JSON.stringify(board)) as FullBoard',
    ],
  ],
}

/** Guarantees of the server and the driver that the core relies on, switched off one by one. */
export const weaknesses = {
  'the server does not announce moved neighbours': { emitsNeighbourMoves: false },
  'pings have no position': { pingsHaveSeq: false },
  'moves are sent without their neighbour': { sendsAnchors: false },
  'a retry has a new idempotency key': { keepsKeys: false },
}
