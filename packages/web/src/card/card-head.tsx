import type { CardLocation } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { tinted } from '../ui/people.tsx'
import type { CardActions } from './card-keys.ts'

/** The card's column and position, and its menu. */
export function CardHead({ found: { card, column }, actions }: { found: CardLocation; actions: CardActions }) {
  const tools = useTools()
  const shown = tools.shownIn(column)
  const at = shown.findIndex(({ id }) => id === card.id)
  const position = at < 0 ? 'hidden by the filter' : `${at + 1} of ${shown.length}`
  return (
    <>
      <button type="button" className="button is-quiet cd-column" onClick={actions.move}>
        <span className="visually-hidden">Move from </span>
        <span className="column-tab" style={tinted(column.color)} />
        <span className="cd-column-name">{column.title}</span>
        <span className="visually-hidden">, </span>
        <span className="cd-column-position">{position}</span>
        <Icon name="down" />
      </button>
      <Menu
        label="Card menu"
        items={[
          { label: 'Edit title', icon: 'edit', keys: 'E', onSelect: actions.rename },
          { label: 'Move to…', icon: 'move', keys: 'M', onSelect: actions.move },
          { label: 'Labels…', icon: 'tag', keys: 'L', onSelect: actions.labels },
          { label: 'Assign…', icon: 'users', keys: 'A', onSelect: actions.assignees },
          { label: 'Add checklist', icon: 'list', keys: 'K', onSelect: actions.newChecklist },
          { label: 'Attach files', icon: 'upload', keys: 'U', onSelect: actions.upload },
          undefined,
          { label: 'Previous card', keys: 'Ctrl ↑', isDisabled: at <= 0, onSelect: () => actions.step(-1) },
          {
            label: 'Next card',
            keys: 'Ctrl ↓',
            isDisabled: at < 0 || at === shown.length - 1,
            onSelect: () => actions.step(1),
          },
          { label: 'Copy link', icon: 'link', onSelect: () => void tools.copyLink(card.id) },
          undefined,
          { label: 'Delete', icon: 'trash', isDanger: true, onSelect: actions.remove },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  )
}
