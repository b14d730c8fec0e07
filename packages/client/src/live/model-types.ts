export type Verb = 'create' | 'update' | 'delete' | 'move' | 'assign' | 'unassign' | 'link' | 'unlink'
/** The list fields that lead from the board to the items of a kind. */
export type Path = readonly string[]

/** A kind of resource that the full board contains, or the board itself. */
export interface ResourceTable<Name extends string> {
  path: Path
  /** For a resource that is linked to others (labels of cards): their kind, and the lists with copies of it. */
  linkedTo?: Name
  linkedPath?: Path
  /** The field with the parent's id. */
  parent?: string
  children: readonly Name[]
  /** Whether it has a `rank` among its siblings. */
  isOrdered?: true
  /** Whether a create can choose the place. If not, it is created last. */
  isPlacedByCreate?: true
  /** Whether a move can change the parent. */
  changesParent?: true
  /** The fields that a create and an update can set. */
  create: readonly string[]
  update: readonly string[]
  /** The fields with text that the user typed. */
  texts: readonly string[]
  /** The other fields of a new resource, and the defaults of optional ones. */
  initial: Readonly<Record<string, unknown>>
  times: readonly string[]
}
/** An operation, the kind of its event, and whether the request needs the id of the board. */
export type ChangeTable = Partial<Record<Verb, readonly [name: string, event: string, hasBoardId?: 1]>>
