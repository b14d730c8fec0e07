import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CoreClass } from './sync-simulation.ts'

const source = new URL('../src/live/', import.meta.url)
const folder = new URL('../../../.test-output/sync-mutants/', import.meta.url)
const files = ['core', 'fold', 'predict', 'tree', 'undo']

/** The core with some of its rules switched off, in its own text. */
export async function mutant(name: string, changes: [rule: string, without: string][]): Promise<CoreClass> {
  const home = new URL(`${name.replaceAll(' ', '-')}/`, folder)
  mkdirSync(home, { recursive: true })
  for (const file of files) copyFileSync(new URL(`${file}.ts`, source), new URL(`${file}.ts`, home))
  const core = new URL('core.ts', home)
  const text = changes.reduce(
    (before, [rule, without]) => {
      if (!before.includes(rule)) throw new Error(`The core no longer has: ${rule}`)
      return before.replace(rule, without)
    },
    readFileSync(core, 'utf8'),
  )
  writeFileSync(core, text)
  return ((await import(fileURLToPath(core))) as { BoardCore: CoreClass }).BoardCore
}
export const removeMutants = () => rmSync(folder, { recursive: true, force: true })

/** Rules of the core that are switched off one by one: each must be missed. */
export const mutations: Record<string, [rule: string, without: string][]> = {
  'events of the own user are skipped': [
    [
      'this.base = applyEvent(before, event)',
      'this.base = event.user_id === this.user_id ? before : applyEvent(before, event)',
    ],
  ],
  'a gap is not noticed': [
    ['    this.early.set(event.seq, event)\n    if (this.base) this.drain()', '    if (this.base) this.apply(event)'],
  ],
  'a change is dropped with its answer': [['!position || isBefore(this.at, position)', '!position']],
  'a place is an index alone': [['before ? anchored(before, change) : change', 'change']],
  'the own event is not recognised': [['operation.is_seen = (', 'operation.is_seen = false && (']],
  'what was rejected stays': [['this.pending = this.pending.filter((other) => other !== operation)', '']],
  'an older board takes the place of a newer one': [['if (this.base && isBefore(position, this.at)) return', '']],
  'epochs are not told apart': [['this.head.epoch !== this.at.epoch || ', '']],
  'a second change is sent before the first is answered': [
    ["first?.state === 'queued' ? first : undefined", "this.pending.find(({ state }) => state === 'queued')"],
  ],
  'the text of a rejected change is lost': [['text: textOf(change)', "text: ''"]],
  'equal parts are made anew': [
    ['    this.shown = share(this.shown, board)', '    this.shown = JSON.parse(JSON.stringify(board)) as FullBoard'],
  ],
}
/** Rules of the others that the core rests on. */
export const weaknesses = {
  'the server says nothing of neighbours that made room': { announcesRoom: false },
  'pings carry no number': { pingsHaveSeq: false },
  'moves are sent without their anchor': { sendsAnchors: false },
  'what is sent again has a new key': { keepsKeys: false },
}
