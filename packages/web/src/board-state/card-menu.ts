import type { Card } from '@lockstep/client'
import type { MenuItem } from '../ui/menu-types.ts'
import { numberOf } from './board-model.ts'
import type { BoardTools } from './board-tools.ts'
import { t } from './messages.ts'

/** The menu of a card. On an archived board it has only what changes nothing. */
export const cardMenu = (tools: BoardTools, card: Card, isReadOnly: boolean): (MenuItem | undefined)[] => {
  const number = numberOf(card)
  return [
    { label: t.open, icon: 'eye', keys: 'Enter', onSelect: () => tools.openCard(card.id) },
    ...(!isReadOnly ? editItems(tools, card) : []),
    { label: t.copyLink, icon: 'link', keys: 'Ctrl C', onSelect: () => void tools.copyLink(card.id) },
    ...(number
      ? [{ label: t.copyNumber({ number }), icon: 'numbers' as const, onSelect: () => void tools.copyNumber(number) }]
      : []),
    ...(!isReadOnly ? [undefined, ...removeItems(tools, card)] : []),
  ]
}

const removeItems = (tools: BoardTools, { id }: Card): MenuItem[] => [
  { label: t.archive, icon: 'archive', keys: 'Del', onSelect: () => void tools.remove(id, 'archived') },
  {
    label: t.delete,
    icon: 'trash',
    keys: 'Shift Del',
    isDanger: true,
    onSelect: () => void tools.remove(id, 'deleted'),
  },
]

function editItems(tools: BoardTools, card: Card): MenuItem[] {
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  return [
    { label: t.editTitle, icon: 'edit', keys: 'E', onSelect: () => tools.rename(card.id) },
    {
      label: t.moveTo,
      icon: 'move',
      keys: 'M',
      onSelect: () => tools.openPicker('move', card.id),
    },
    {
      label: t.labels,
      icon: 'tag',
      keys: 'L',
      onSelect: () => tools.openPicker('labels', card.id),
    },
    {
      label: t.assign,
      icon: 'users',
      keys: 'A',
      onSelect: () => tools.openPicker('assignees', card.id),
    },
    {
      label: isOn ? t.unassignMe : t.assignMe,
      icon: 'user',
      keys: 'Space',
      onSelect: () => tools.toggleMe(card.id),
    },
    {
      label: t.dueDate,
      icon: 'calendar',
      keys: 'D',
      onSelect: () => tools.openPicker('due', card.id),
    },
  ]
}
