import type { Found } from '../board/board-model.ts'
import { useTools } from '../board/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { tinted } from '../ui/people.tsx'
import type { CardActs } from './card-keys.ts'

/** Where the card is, and everything that can be done with it as a whole. */
export function CardHead({ found: { card, column }, acts }: { found: Found; acts: CardActs }) {
  const tools = useTools()
  const shown = tools.shownIn(column)
  const at = shown.findIndex(({ id }) => id === card.id)
  const place = at < 0 ? 'not shown by the filter' : `${at + 1} of ${shown.length}`
  return (
    <>
      <button type="button" className="button is-quiet cd-lane" onClick={acts.move}>
        <span className="unseen">Move from </span>
        <span className="lane-tab" style={tinted(column.color)} />
        <span className="cd-lane-name">{column.title}</span>
        <span className="unseen">, </span>
        <span className="cd-lane-place">{place}</span>
        <Icon name="down" />
      </button>
      <Menu
        label="More about this card"
        items={[
          { label: 'Edit the title', icon: 'edit', keys: 'E', onSelect: acts.rename },
          { label: 'Move to…', icon: 'move', keys: 'M', onSelect: acts.move },
          { label: 'Labels…', icon: 'tag', keys: 'L', onSelect: acts.labels },
          { label: 'Assign…', icon: 'users', keys: 'A', onSelect: acts.assignees },
          { label: 'New checklist', icon: 'list', keys: 'K', onSelect: acts.newChecklist },
          { label: 'Attach files', icon: 'upload', keys: 'U', onSelect: acts.upload },
          undefined,
          { label: 'Previous card', keys: 'Ctrl ↑', is_disabled: at <= 0, onSelect: () => acts.step(-1) },
          {
            label: 'Next card',
            keys: 'Ctrl ↓',
            is_disabled: at < 0 || at === shown.length - 1,
            onSelect: () => acts.step(1),
          },
          { label: 'Copy the link', icon: 'link', onSelect: () => void tools.copyLink(card.id) },
          undefined,
          { label: 'Delete', icon: 'trash', is_danger: true, onSelect: acts.remove },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  )
}
