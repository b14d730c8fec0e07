/** What the contract says once about a kind of resource. Server, client and tests derive the rest from it. */
interface ResourceDefinition {
  table: string
  /** The resource that it belongs to. Its id is in the field `<parent>_id`. */
  parent?: string
  /** The field of the parent that lists it in the full board. */
  list?: string
  /** Whether it has a place among its siblings, given by `rank`. */
  isOrdered?: true
  /** The first part of the names of its events, if that is not the name of the resource. */
  eventPrefix?: string
  /** Whether it has an author, in the column `author_id`. */
  hasAuthor?: true
  /** It can be added to resources of another kind, which list copies of it. */
  links?: { to: string; list: string; added: string; removed: string }
}

/** The resources of a board. The id of each is the path parameter `<resource>_id`. */
export const resources = {
  board: { table: 'boards' },
  column: { table: 'columns', parent: 'board', list: 'columns', isOrdered: true },
  card: { table: 'cards', parent: 'column', list: 'cards', isOrdered: true },
  label: {
    table: 'labels',
    parent: 'board',
    list: 'labels',
    links: { to: 'card', list: 'labels', added: 'card.labeled', removed: 'card.unlabeled' },
  },
  checklist: { table: 'checklists', parent: 'card', list: 'checklists', isOrdered: true },
  item: {
    table: 'checklist_items',
    parent: 'checklist',
    list: 'items',
    isOrdered: true,
    eventPrefix: 'checklist_item',
  },
  attachment: { table: 'attachments', parent: 'card', list: 'attachments' },
  comment: { table: 'comments', parent: 'card', hasAuthor: true },
  rule: { table: 'automation_rules', parent: 'board' },
} as const satisfies Record<string, ResourceDefinition>

export type Resource = keyof typeof resources
/** The resources whose definition has this form. */
type ResourceWith<D> = { [R in Resource]: (typeof resources)[R] extends D ? R : never }[Resource]
export type OrderedResource = ResourceWith<{ isOrdered: true }>
export type AuthoredResource = ResourceWith<{ hasAuthor: true }>
export type LinkedResource = ResourceWith<{ links: object }>

/** A definition with every property that any of them has. */
export const definitionOf = (resource: Resource): ResourceDefinition => resources[resource]
export const resourceNames = Object.keys(resources) as Resource[]

export type Verb =
  | 'create'
  | 'update'
  | 'delete'
  | 'move'
  | 'assign'
  | 'unassign'
  | 'link'
  | 'unlink'
  | 'restore'
  | 'other'
/** What an operation does to which resource. */
export interface Effect {
  verb: Verb
  /** Members are not a resource of their own: they have no id, and their events are events of the board. */
  on: Resource | 'member'
  /** The resource that is added to `on` or removed from it. */
  linked?: Resource
  /** The kind of the event of this effect. Other kinds in `emits` are consequences. */
  event: string
}

const prefixOf = (resource: Resource) => definitionOf(resource).eventPrefix ?? resource

export const create = (on: Resource): Effect => ({ verb: 'create', on, event: `${prefixOf(on)}.created` })
export const update = (on: Resource): Effect => ({ verb: 'update', on, event: `${prefixOf(on)}.updated` })
export const remove = (on: Resource): Effect => ({ verb: 'delete', on, event: `${prefixOf(on)}.deleted` })
export const move = (on: OrderedResource): Effect => ({ verb: 'move', on, event: `${prefixOf(on)}.moved` })
export const assign = (on: Resource): Effect => ({ verb: 'assign', on, event: `${prefixOf(on)}.assigned` })
export const unassign = (on: Resource): Effect => ({ verb: 'unassign', on, event: `${prefixOf(on)}.unassigned` })

/** Adds a resource to another one, or removes it. Both continue to exist. */
export const link = (linked: LinkedResource): Effect => linkEffect('link', linked)
export const unlink = (linked: LinkedResource): Effect => linkEffect('unlink', linked)
function linkEffect(verb: 'link' | 'unlink', linked: LinkedResource): Effect {
  const { to, added, removed } = resources[linked].links
  return { verb, on: to, linked, event: verb === 'link' ? added : removed }
}

/** Puts a card or a column back on its board. For a column, the event is `column.created`. */
export const restore: Effect = { verb: 'restore', on: 'board', event: 'card.created' }

/** An effect that the client does not predict: it waits for the event. */
export const other = (on: Resource, event: string): Effect => ({ verb: 'other', on, event })

/** A change of the members of a board. */
export const ofMember = (verb: 'create' | 'update' | 'delete', event: string): Effect => ({ verb, on: 'member', event })
