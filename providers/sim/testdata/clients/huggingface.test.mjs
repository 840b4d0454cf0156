import assert from 'node:assert/strict'
import {InferenceClient, InferenceClientProviderApiError} from '@huggingface/inference'
import {chaosHeader, checks, model, url} from './support.mjs'

const error = err => err instanceof InferenceClientProviderApiError ? {status: err.httpResponse.status} : null

// The client has no option for headers, but takes a fetch.
const options = chaos => chaos ? {fetch: (to, init) => fetch(to, {...init, headers: {...init.headers, [chaosHeader]: chaos}})} : {}

const client = new InferenceClient('none')

// What the client calls text generation is OpenAI's first format today, which TGI has, too.
checks('huggingface: text generation', {
  tools: false,
  schema: false,
  usage: false,
  user: prompt => prompt,
  async ask(inputs, {stream, chaos, model: name = model}) {
    const request = {endpointUrl: `${url}/v1`, model: name, inputs, parameters: {max_new_tokens: 1000}}
    if (!stream) return {text: (await client.textGeneration(request, options(chaos))).generated_text, pieces: 1}
    const texts = []
    for await (const e of client.textGenerationStream(request, options(chaos))) texts.push(e.choices[0].text)
    return {text: texts.join(''), pieces: texts.length}
  },
  error,
})

// TGI's own format, which the client sends as it is given.
checks('huggingface: TGI', {
  tools: false,
  user: prompt => prompt,
  async ask(inputs, {stream, schema, chaos, model: name = model}) {
    const request = {endpointUrl: `${url}/models/${name}/generate${stream ? '_stream' : ''}`, inputs, parameters: {details: true}}
    if (schema) request.parameters.grammar = {type: 'json', value: schema}
    if (!stream) {
      const r = await client.request(request, options(chaos))
      return {text: r.generated_text, pieces: 1, input: r.details.prefill.length, output: r.details.generated_tokens}
    }
    const events = []
    for await (const e of client.streamingRequest(request, options(chaos))) events.push(e)
    const {details} = events.at(-1)
    const text = events.filter(e => !e.token.special).map(e => e.token.text).join('')
    assert.equal(events.at(-1).generated_text, text)
    return {text, pieces: events.length, input: details.input_length, output: details.generated_tokens}
  },
  error,
})

checks('huggingface: chat completion', {
  user: prompt => [{role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const request = {endpointUrl: url, model: name, messages}
    if (tools) request.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema}}))
    if (schema) request.response_format = {type: 'json_schema', json_schema: {name: 'place', schema, strict: true}}
    if (!stream) {
      const r = await client.chatCompletion(request, options(chaos))
      return read(r.choices[0].message, 1, r.usage)
    }
    const message = {role: 'assistant', content: '', tool_calls: []}
    let pieces = 0
    let usage
    for await (const chunk of client.chatCompletionStream({...request, stream_options: {include_usage: true}}, options(chaos))) {
      usage = chunk.usage ?? usage
      const delta = chunk.choices[0]?.delta ?? {}
      if (delta.content) {
        message.content += delta.content
        pieces++
      }
      for (const c of delta.tool_calls ?? []) {
        if (c.id) message.tool_calls[c.index] = {id: c.id, type: 'function', function: {name: c.function.name, arguments: ''}}
        message.tool_calls[c.index].function.arguments += c.function.arguments
      }
    }
    if (message.tool_calls.length === 0) delete message.tool_calls
    return read(message, pieces, usage)
  },
  answer: (messages, reply, results) => [...messages, reply.state, ...results.map((content, i) => ({role: 'tool', tool_call_id: reply.calls[i].id, content}))],
  error,
})

function read(m, pieces, usage) {
  const calls = (m.tool_calls ?? []).map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)}))
  return {text: m.content, calls, pieces, input: usage.prompt_tokens, output: usage.completion_tokens, state: m}
}
