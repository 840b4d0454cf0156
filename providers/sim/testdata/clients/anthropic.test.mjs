import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import {chaosHeader, checks, model, tool, url} from './support.mjs'

const client = new Anthropic({baseURL: url, apiKey: 'none', maxRetries: 0})
const classes = {400: Anthropic.BadRequestError, 401: Anthropic.AuthenticationError, 404: Anthropic.NotFoundError, 429: Anthropic.RateLimitError, 500: Anthropic.InternalServerError}
const error = err => err instanceof (classes[err.status] ?? Array) ? {status: err.status} : null
const headers = chaos => chaos ? {headers: {[chaosHeader]: chaos}} : {}
const definitions = tools => tools.map(t => ({name: t.name, description: t.description, input_schema: t.schema}))

function read(done, pieces) {
  return {
    text: done.content.filter(b => b.type === 'text').map(b => b.text).join(''),
    calls: done.content.filter(b => b.type === 'tool_use').map(b => ({id: b.id, name: b.name, args: b.input})),
    pieces, input: done.usage.input_tokens, output: done.usage.output_tokens, state: done,
  }
}

const results = (reply, texts) => ({role: 'user', content: texts.map((content, i) => ({type: 'tool_result', tool_use_id: reply.calls[i].id, content}))})

checks('anthropic: messages', {
  user: prompt => [{role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const body = {model: name, max_tokens: 1000, system: 'Obey.', messages}
    if (tools) body.tools = definitions(tools)
    if (schema) body.output_config = {format: {type: 'json_schema', schema}}
    if (!stream) return read(await client.messages.create(body, headers(chaos)), 1)
    const s = client.messages.stream(body, headers(chaos))
    let pieces = 0
    s.on('text', () => pieces++)
    return read(await s.finalMessage(), pieces)
  },
  answer: (messages, reply, texts) => [...messages, {role: 'assistant', content: reply.state.content}, results(reply, texts)],
  error,
})

for (const stream of [false, true]) {
  test(`anthropic: ${stream ? 'streamed ' : ''}message thread`, async () => {
    const thread = client.beta.messages.thread({model, max_tokens: 1000, system: 'Obey.', tools: definitions([tool])})
    const send = async message => read(stream ? await thread.stream(message).finalMessage() : await thread.send(message))
    const first = await send({role: 'user', content: 'call weather {"city":"Oslo"}\ncall weather {"city":"Rome"}\nthen\nresults'})
    assert.equal(first.calls.length, 2)
    const second = await send(results(first, ['7 degrees', '19 degrees']))
    assert.equal(second.text, 'weather -> 7 degrees\nweather -> 19 degrees')
    assert.equal(thread.previousMessageId, second.state.id)
    assert.equal((await send({role: 'user', content: 'system'})).text, 'Obey.')
    assert.equal(thread.messages.length, 6)
  })
}

test('anthropic: a thread that was continued elsewhere is replayed', async () => {
  const thread = client.beta.messages.thread({model, max_tokens: 1000, system: 'Obey.'})
  await thread.send({role: 'user', content: 'say one'})
  const lost = thread.previousMessageId
  await client.beta.messages.create({
    model, max_tokens: 100, messages: [{role: 'user', content: 'say other'}], thread: {type: 'continue', previous_message_id: lost}, betas: ['message-threads-2026-08-12'],
  })
  const reply = read(await thread.send({role: 'user', content: 'system'}))
  assert.equal(reply.text, 'Obey.')
  assert.equal(thread.messages.length, 4)
})

test('anthropic: refused threads', async () => {
  const send = (thread, more) => client.beta.messages.create({model, max_tokens: 100, messages: [{role: 'user', content: 'say hi'}], thread, betas: ['message-threads-2026-08-12'], ...more})
  const first = await send({type: 'create'})
  const next = {type: 'continue', previous_message_id: first.id}
  await assert.rejects(send(next, {system: 'Obey.'}), Anthropic.ThreadFingerprintMismatchError)
  await send(next)
  await assert.rejects(send(next), Anthropic.ThreadAlreadyContinuedError)
  await assert.rejects(send({...next, previous_message_id: 'msg_none'}), Anthropic.ThreadNotFoundError)
})

test('anthropic: count_tokens', async () => {
  const body = {model, system: 'Obey.', tools: definitions([tool]), messages: [{role: 'user', content: 'say hi'}]}
  const count = await client.messages.countTokens(body)
  const done = await client.messages.create({...body, max_tokens: 100})
  assert.equal(count.input_tokens, done.usage.input_tokens)
})

test('anthropic: models', async () => {
  const names = []
  for await (const m of client.models.list()) names.push(m.id)
  assert.ok(names.includes(model))
  assert.equal((await client.models.retrieve(model)).id, model)
  await assert.rejects(client.models.retrieve('none'), Anthropic.NotFoundError)
})

test('anthropic: reasoning comes back signed', async () => {
  const messages = [{role: 'user', content: 'think Hm.\ncall weather {"city":"Oslo"}\nthen\nresults'}]
  const first = read(await client.messages.stream({model, max_tokens: 1000, messages, tools: definitions([tool])}).finalMessage())
  assert.equal(first.state.content[0].thinking, 'Hm.')
  messages.push({role: 'assistant', content: first.state.content}, results(first, ['7 degrees']))
  const second = read(await client.messages.create({model, max_tokens: 1000, messages, tools: definitions([tool])}))
  assert.equal(second.text, 'weather -> 7 degrees')
})
