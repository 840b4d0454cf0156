import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import {zodResponseFormat} from 'openai/helpers/zod'
import {z} from 'zod'
import {chaosHeader, checks, model, tool, url} from './support.mjs'

const client = new OpenAI({baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0})

// The class of each status is its own.
const classes = {400: OpenAI.BadRequestError, 401: OpenAI.AuthenticationError, 404: OpenAI.NotFoundError, 429: OpenAI.RateLimitError, 500: OpenAI.InternalServerError}
const error = err => err instanceof (classes[err.status] ?? Array) ? {status: err.status} : null
const headers = chaos => chaos ? {headers: {[chaosHeader]: chaos}} : {}
const parse = calls => calls.map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)}))

checks('openai: chat completions', {
  user: prompt => [{role: 'system', content: 'Obey.'}, {role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const body = {model: name, messages}
    if (tools) body.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema, strict: true}}))
    if (schema) body.response_format = {type: 'json_schema', json_schema: {name: 'place', schema, strict: true}}
    let done
    let pieces = 1
    if (stream) {
      const s = client.chat.completions.stream({...body, stream_options: {include_usage: true}}, headers(chaos))
      pieces = 0
      s.on('content', () => pieces++)
      done = await s.finalChatCompletion()
    } else {
      done = await client.chat.completions.create(body, headers(chaos))
    }
    const m = done.choices[0].message
    return {text: m.content, calls: parse(m.tool_calls ?? []), pieces, input: done.usage.prompt_tokens, output: done.usage.completion_tokens, state: m}
  },
  answer: (messages, reply, results) => [...messages, reply.state, ...results.map((content, i) => ({role: 'tool', tool_call_id: reply.calls[i].id, content}))],
  error,
})

checks('openai: text completions', {
  tools: false,
  schema: false,
  user: prompt => prompt,
  async ask(prompt, {stream, chaos, model: name = model}) {
    const body = {model: name, prompt, max_tokens: 1000}
    if (!stream) {
      const done = await client.completions.create(body, headers(chaos))
      return {text: done.choices[0].text, pieces: 1, input: done.usage.prompt_tokens, output: done.usage.completion_tokens}
    }
    const chunks = []
    for await (const chunk of await client.completions.create({...body, stream: true, stream_options: {include_usage: true}}, headers(chaos))) chunks.push(chunk)
    const {usage} = chunks.at(-1)
    return {text: chunks.map(c => c.choices[0]?.text ?? '').join(''), pieces: chunks.length, input: usage.prompt_tokens, output: usage.completion_tokens}
  },
  error,
})

test('openai: parse with zod', async () => {
  const done = await client.chat.completions.parse({
    model, messages: [{role: 'user', content: 'say {"city":"Oslo","degrees":7}'}],
    response_format: zodResponseFormat(z.object({city: z.string(), degrees: z.number()}), 'place'),
  })
  assert.deepEqual(done.choices[0].message.parsed, {city: 'Oslo', degrees: 7})
})

test('openai: models', async () => {
  const names = []
  for await (const m of client.models.list()) names.push(m.id)
  assert.ok(names.includes(model))
  assert.equal((await client.models.retrieve(model)).id, model)
  await assert.rejects(client.models.retrieve('none'), OpenAI.NotFoundError)
})

const responses = {
  user: prompt => [{role: 'user', content: prompt}],
  async ask(input, {stream, tools, schema, chaos, model: name = model, ...more}) {
    const body = {model: name, input, instructions: 'Obey.', ...more}
    if (tools) body.tools = tools.map(t => ({type: 'function', name: t.name, description: t.description, parameters: t.schema, strict: true}))
    if (schema) body.text = {format: {type: 'json_schema', name: 'place', schema, strict: true}}
    let done
    let pieces = 1
    if (stream) {
      const s = client.responses.stream(body, headers(chaos))
      pieces = 0
      s.on('response.output_text.delta', () => pieces++)
      done = await s.finalResponse()
    } else {
      done = await client.responses.create(body, headers(chaos))
    }
    const calls = done.output.filter(o => o.type === 'function_call').map(o => ({id: o.call_id, name: o.name, args: JSON.parse(o.arguments)}))
    return {text: done.output_text, calls, pieces, input: done.usage.input_tokens, output: done.usage.output_tokens, state: done}
  },
  answer: (input, reply, results) => [...input, ...reply.state.output.map(({parsed, parsed_arguments, ...o}) => o), ...outputs(reply, results)],
  error,
}

const outputs = (reply, results) => results.map((output, i) => ({type: 'function_call_output', call_id: reply.calls[i].id, output}))

checks('openai: responses', responses)

checks('openai: responses by item_reference', {
  ...responses,
  answer: (input, reply, results) => [...input, ...reply.state.output.map(o => ({type: 'item_reference', id: o.id})), ...outputs(reply, results)],
})

test('openai: previous_response_id', async () => {
  const first = await responses.ask(responses.user('call weather {"city":"Oslo"}\nthen\nresults'), {tools: [tool]})
  const second = await responses.ask(outputs(first, ['7 degrees']), {tools: [tool], previous_response_id: first.state.id})
  assert.equal(second.text, 'weather -> 7 degrees')
})

test('openai: an unknown item_reference', async () => {
  await assert.rejects(client.responses.create({model, input: [{type: 'item_reference', id: 'msg_none'}, {role: 'user', content: 'say hi'}]}),
    err => err instanceof OpenAI.NotFoundError && /Item with id 'msg_none' not found/.test(err.message))
})
