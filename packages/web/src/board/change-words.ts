import type { Change } from '@lockstep/client/live'

const things: Record<string, string> = {
  Board: 'the board',
  Member: 'a member',
  Column: 'a lane',
  Card: 'a card',
  Label: 'a label',
  Checklist: 'a checklist',
  Item: 'a checklist item',
  Attachment: 'a file',
}
const verbs: Record<string, string> = {
  create: 'Adding',
  update: 'Changing',
  delete: 'Deleting',
  move: 'Moving',
  assign: 'Assigning somebody to',
  unassign: 'Taking somebody off',
  invite: 'Inviting',
  remove: 'Removing',
  add: 'Adding',
}

/** A change in words, for when it did not come about: "Moving a card". */
export function changeWords({ name }: Change): string {
  if (name === 'addCardLabel') return 'Labelling a card'
  if (name === 'removeCardLabel') return 'Taking a label off a card'
  const [, verb = '', thing = ''] = /^([a-z]+)(\w+)$/.exec(name) ?? []
  return `${verbs[verb] ?? 'Changing'} ${things[thing] ?? 'something'}`
}
