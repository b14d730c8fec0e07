import { demand, fits, same } from './demand.ts'
import { Checklist, ChecklistItem } from './resources.ts'
import { row } from './rows.ts'
import { byRank, furnished, readCard, readChecklist } from './samples.ts'
import { newStage, type Service } from './service.ts'

/** A card of the row's own, with a checklist. */
async function withChecklist(service: Service) {
  const stage = await newStage(service)
  const { id: card_id } = await stage.member.newCard(stage.todo)
  return { ...stage, card_id, checklist: await stage.member.newChecklist(card_id) }
}

row(
  '4.8-create-checklist',
  'POST /cards/{card_id}/checklists returns the new checklist, ranked last in the card.',
  async (service) => {
    const { member, card_id, checklist } = await withChecklist(service)
    const made = await member.newChecklist(card_id, 'More')
    fits(Checklist, made, 'the checklist')
    same('the checklist', [made.card_id, made.title, made.items], [card_id, 'More', []])
    demand(made.rank > checklist.rank, 'it is not ranked last')
    same('the order', byRank((await readCard(member, card_id)).checklists), [checklist.id, made.id])
  },
)
row('4.8-create-checklist-title', 'title is required to create a checklist.', async (service) => {
  const { member, card_id } = await service.once(furnished)
  await member.refusedSomehow('POST', `/cards/${card_id}/checklists`, {})
})
row('4.8-update-checklist', 'PATCH /checklists/{checklist_id} returns the updated checklist.', async (service) => {
  const { member, checklist } = await withChecklist(service)
  const changed = await member.patch(`/checklists/${checklist.id}`, { title: 'Other' })
  fits(Checklist, changed, 'the checklist')
  same('the checklist', Checklist.project(changed), Checklist.project({ ...checklist, title: 'Other' }))
})
row('4.8-delete-checklist', 'DELETE /checklists/{checklist_id} removes the checklist.', async (service) => {
  const { member, card_id, checklist } = await withChecklist(service)
  await member.delete(`/checklists/${checklist.id}`)
  same('the checklists', (await readCard(member, card_id)).checklists, [])
})
row(
  '4.8-create-item',
  'POST /checklists/{checklist_id}/items returns the new item, ranked last in the checklist.',
  async (service) => {
    const { member, checklist } = await withChecklist(service)
    const one = await member.newItem(checklist.id)
    const two = await member.newItem(checklist.id, 'Two')
    fits(ChecklistItem, two, 'the item')
    same('the item', [two.checklist_id, two.content], [checklist.id, 'Two'])
    demand(two.rank > one.rank, 'it is not ranked last')
    same('the order', byRank((await readChecklist(member, checklist))?.items ?? []), [one.id, two.id])
  },
)
row('4.8-create-item-content', 'content is required to create an item.', async (service) => {
  const { member, checklist_id } = await service.once(furnished)
  await member.refusedSomehow('POST', `/checklists/${checklist_id}/items`, {})
})
row('4.8-update-item', 'PATCH /items/{item_id} returns the updated item.', async (service) => {
  const { member, checklist } = await withChecklist(service)
  const item = await member.newItem(checklist.id)
  const changed = await member.patch(`/items/${item.id}`, { content: 'Other' })
  fits(ChecklistItem, changed, 'the item')
  same('the item', ChecklistItem.project(changed), ChecklistItem.project({ ...item, content: 'Other' }))
})
row('4.8-delete-item', 'DELETE /items/{item_id} removes the item.', async (service) => {
  const { member, checklist } = await withChecklist(service)
  const { id } = await member.newItem(checklist.id)
  await member.delete(`/items/${id}`)
  same('the items', (await readChecklist(member, checklist))?.items, [])
})
