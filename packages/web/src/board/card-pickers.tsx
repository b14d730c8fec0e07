import { useTools } from '../board-state/board-tools.ts'
import { openCardId } from '../board-state/open-card.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { CardPicker } from '../card/card-picker.tsx'
import { t } from '../card/messages.ts'
import { MoveForm } from '../card/move-form.tsx'
import { isFocusInPopover } from '../card/restore-focus.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useStore } from '../ui/store.ts'

/** The picker that is open for a card on the board. An open card shows its pickers itself. */
export function CardPickers() {
  const tools = useTools()
  const board = useShownBoard()
  const picker = useStore(tools.picker)
  const card = board.find(picker?.card_id)?.card
  if (!picker || !card || openCardId() === card.id) return null
  const close = () => {
    tools.picker.set(undefined)
    tools.focusCard(card.id)
  }
  if (picker.what === 'move')
    return (
      <Dialog title={t.moveCard({ title: card.title })} size="small" onClose={close}>
        <MoveForm
          card_id={card.id}
          className="dialog-body"
          onCancel={close}
          onMove={() => tools.picker.set(undefined)}
        />
      </Dialog>
    )
  const face = document.querySelector(`[data-card-id="${CSS.escape(card.id)}"]`)
  return (
    <CardPicker
      key={card.id}
      what={picker.what}
      card={card}
      // A card that the filter hides has no element.
      anchor={face ?? document.getElementById('main') ?? undefined}
      onClose={() => {
        if (isFocusInPopover()) close()
        else tools.picker.set(undefined)
      }}
    />
  )
}
