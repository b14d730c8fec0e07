import type { Card } from '@lockstep/client'
import type { MenuItem } from '../ui/menu-types.ts'
import { numberOf } from './board-model.ts'
import type { BoardTools } from './board-tools.ts'
import { t } from './messages.ts'

/** The menu of a card. */
export const cardMenu = (tools: BoardTools, card: Card): (MenuItem | undefined)[] => {
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  const number = numberOf(card)
  return [
    { label: t.open, icon: 'eye', keys: 'Enter', onSelect: () => tools.openCard(card.id) },
    { label: t.editTitle, icon: 'edit', keys: 'E', onSelect: () => tools.renaming.set(card.id) },
    {
      label: t.moveTo,
      icon: 'move',
      keys: 'M',
      onSelect: () => tools.picker.set({ what: 'move', card_id: card.id }),
    },
    {
      label: t.labels,
      icon: 'tag',
      keys: 'L',
      onSelect: () => tools.picker.set({ what: 'labels', card_id: card.id }),
    },
    {
      label: t.assign,
      icon: 'users',
      keys: 'A',
      onSelect: () => tools.picker.set({ what: 'assignees', card_id: card.id }),
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
      onSelect: () => tools.picker.set({ what: 'due', card_id: card.id }),
    },
    { label: t.copyLink, icon: 'link', keys: 'Ctrl C', onSelect: () => void tools.copyLink(card.id) },
    ...(number
      ? [{ label: t.copyNumber({ number }), icon: 'numbers' as const, onSelect: () => void tools.copyNumber(number) }]
      : []),
    undefined,
    { label: t.delete, icon: 'trash', keys: 'Del', isDanger: true, onSelect: () => void tools.remove(card.id) },
  ]
}
