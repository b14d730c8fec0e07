export type Verb = 'create' | 'update' | 'delete' | 'move' | 'assign' | 'unassign' | 'link' | 'unlink' | 'restore'
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
  /** Whether a move can change the parent. */
  changesParent?: true
  /** The fields that an update can set, and those of a create if they differ. */
  update: readonly string[]
  create?: readonly string[]
  /** The fields with text that the user typed. */
  texts: readonly string[]
  /** The other fields of a new resource, and the defaults of optional ones. */
  initial: Readonly<Record<string, unknown>>
  /** The fields with the time of the change. */
  times?: readonly string[]
}
/**
 * What an operation does: the verb, the kind of resource, the kind of its event, and the kind that is linked, or 1 if the
 * request needs the id of the board.
 */
export type ChangeRow<Name extends string> = readonly [verb: Verb, on: Name | 'member', event: string, more?: Name | 1]
