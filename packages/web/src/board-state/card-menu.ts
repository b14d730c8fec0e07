import type { Card } from '@lockstep/client'
import type { MenuItem } from '../ui/menu.tsx'
import type { BoardTools } from './board-tools.ts'

/** The menu of a card. */
export const cardMenu = (tools: BoardTools, card: Card): (MenuItem | undefined)[] => {
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  return [
    { label: 'Open', icon: 'eye', keys: 'Enter', onSelect: () => tools.openCard(card.id) },
    { label: 'Edit title', icon: 'edit', keys: 'E', onSelect: () => tools.renaming.set(card.id) },
    {
      label: 'Move to…',
      icon: 'move',
      keys: 'M',
      onSelect: () => tools.picker.set({ what: 'move', card_id: card.id }),
    },
    {
      label: 'Labels…',
      icon: 'tag',
      keys: 'L',
      onSelect: () => tools.picker.set({ what: 'labels', card_id: card.id }),
    },
    {
      label: 'Assign…',
      icon: 'users',
      keys: 'A',
      onSelect: () => tools.picker.set({ what: 'assignees', card_id: card.id }),
    },
    {
      label: isOn ? 'Unassign me' : 'Assign me',
      icon: 'user',
      keys: 'Space',
      onSelect: () => tools.toggleMe(card.id),
    },
    { label: 'Copy link', icon: 'link', keys: 'Ctrl C', onSelect: () => void tools.copyLink(card.id) },
    undefined,
    { label: 'Delete', icon: 'trash', keys: 'Del', isDanger: true, onSelect: () => tools.remove(card.id) },
  ]
}
