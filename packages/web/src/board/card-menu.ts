import type { Card } from '@lockstep/client'
import type { MenuItem } from '../ui/menu.tsx'
import type { BoardTools } from './board-tools.ts'

/** Everything that can be done with a card, without a drag and without a key. */
export const cardMenu = (tools: BoardTools, card: Card): (MenuItem | undefined)[] => {
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  return [
    { label: 'Open', icon: 'eye', keys: 'Enter', onSelect: () => tools.openCard(card.id) },
    { label: 'Edit the title', icon: 'edit', keys: 'E', onSelect: () => tools.renaming.set(card.id) },
    {
      label: 'Move to…',
      icon: 'move',
      keys: 'M',
      onSelect: () => tools.asking.set({ what: 'move', card_id: card.id }),
    },
    {
      label: 'Labels…',
      icon: 'tag',
      keys: 'L',
      onSelect: () => tools.asking.set({ what: 'labels', card_id: card.id }),
    },
    {
      label: 'Assign…',
      icon: 'users',
      keys: 'A',
      onSelect: () => tools.asking.set({ what: 'assignees', card_id: card.id }),
    },
    {
      label: isOn ? 'Take me off' : 'Assign me',
      icon: 'user',
      keys: 'Space',
      onSelect: () => tools.toggleMe(card.id),
    },
    { label: 'Copy the link', icon: 'link', keys: 'Ctrl C', onSelect: () => void tools.copyLink(card.id) },
    undefined,
    { label: 'Delete', icon: 'trash', keys: 'Del', is_danger: true, onSelect: () => tools.remove(card.id) },
  ]
}
