package sim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// invoke is InvokeModel of Amazon Bedrock, in the Messages format of Anthropic's models:
// the path names the model and whether to stream.
var invoke = wire{
	name:      bedrock.name,
	requestID: bedrock.requestID,
	decode:    decodeInvoke,
	encode:    encodeAnthropic,
	stream:    streamInvoke,
	media:     media(binaryStream),
	fail:      failBedrock,
	mark:      markBedrock,
}

func decodeInvoke(req *http.Request, body []byte) (modelRequest, *failure) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	if !given(members["anthropic_version"]) {
		return modelRequest{}, invalid("", "anthropic_version: Field required: the simulation serves InvokeModel in the Messages format of Anthropic's models alone")
	}
	if name := foreign(body, "model", "stream", "thread"); name != "" {
		return modelRequest{}, invalid("", "%s: Extra inputs are not permitted", name)
	}
	members["model"] = encodeJSON(req.PathValue("model"))
	q, f := readMessages(encodeJSON(members))
	q.stream = strings.HasSuffix(req.URL.Path, "-stream")
	return q, f
}

// streamInvoke puts the events of Messages into binary ones.
func streamInvoke(q modelRequest, c completion) [][]byte {
	var frames [][]byte
	for _, f := range streamAnthropic(q, c) {
		_, data, _ := bytes.Cut(f, []byte("data: "))
		frames = append(frames, awsEvent("chunk", struct {
			Bytes []byte `json:"bytes"`
		}{bytes.TrimSpace(data)}))
	}
	return frames
}
