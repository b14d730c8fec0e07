import type { RefObject } from 'react'
import { type CardLocation, numberOf } from '../board-state/board-model.ts'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import type { MenuEntry } from '../ui/menu-types.ts'
import { showToast } from '../ui/toasts.ts'
import type { CardActions } from './card-keys.ts'
import { EditableText } from './editable-text.tsx'
import { t } from './messages.ts'
import { saveTitle } from './save-title.ts'

interface CardHeadProps {
  found: CardLocation
  actions: CardActions
  title: RefObject<HTMLButtonElement | null>
}

/** Title, number and menu of the card. They stay visible while the content scrolls. */
export function CardHead({ found: { card, column }, actions, title }: CardHeadProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const shown = useShownBoard().shownIn(column)
  const at = shown.findIndex(({ id }) => id === card.id)
  const number = numberOf(card)
  const rename = async (text: string, base: string, draftName: string) => {
    const outcome = await saveTitle(tools, card.id, draftName, text, base)
    if (outcome === 'conflict') showToast(t.titleConflict)
  }
  const edits: MenuEntry[] = [
    { label: t.editTitle, icon: 'edit', keys: 'E', onSelect: actions.rename },
    { label: t.moveToMenu, icon: 'move', keys: 'M', onSelect: actions.move },
    { label: t.labelsMenu, icon: 'tag', keys: 'L', onSelect: actions.labels },
    { label: t.assignMenu, icon: 'users', keys: 'A', onSelect: actions.assignees },
    { label: t.dueDateMenu, icon: 'calendar', keys: 'D', onSelect: actions.due },
    { label: t.addChecklist, icon: 'list', keys: 'K', onSelect: actions.newChecklist },
    { label: t.attachFiles, icon: 'upload', keys: 'U', onSelect: actions.upload },
    undefined,
  ]
  const removals: MenuEntry[] = [
    undefined,
    { label: t.archive, icon: 'archive', onSelect: () => actions.remove('archived') },
    { label: t.delete, icon: 'trash', isDanger: true, onSelect: () => actions.remove('deleted') },
  ]
  return (
    <>
      <div className="cd-title-row">
        {isReadOnly ? (
          <div className="cd-title" dir="auto">
            {card.title}
          </div>
        ) : (
          <EditableText
            id={card.id}
            field="title"
            label={t.titleLabel}
            className="cd-title"
            value={card.title}
            max={255}
            button={title}
            isFirst
            onSave={(...text) => void rename(...text)}
          />
        )}
      </div>
      {number && <span className="cd-number">{number}</span>}
      <Menu
        label={t.cardMenu}
        items={[
          ...(isReadOnly ? [] : edits),
          { label: t.previousCard, keys: 'Ctrl ↑', isDisabled: at <= 0, onSelect: () => actions.step(-1) },
          {
            label: t.nextCard,
            keys: 'Ctrl ↓',
            isDisabled: at < 0 || at === shown.length - 1,
            onSelect: () => actions.step(1),
          },
          { label: t.copyLink, icon: 'link', onSelect: () => void tools.copyLink(card.id) },
          ...(number
            ? [
                {
                  label: t.copyNumber({ number }),
                  icon: 'numbers' as const,
                  onSelect: () => void tools.copyNumber(number),
                },
              ]
            : []),
          ...(isReadOnly ? [] : removals),
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  )
}
