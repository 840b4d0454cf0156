package sim

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// listings are the addresses that say which models there are.
var listings = []struct {
	method, path string
	serve        http.HandlerFunc
}{
	{http.MethodGet, "/v1/models", listModels},
	{http.MethodGet, "/v1/models/{call}", showModel},
	{http.MethodGet, "/v1beta/models", listModels},
	{http.MethodGet, "/v1beta/models/{call}", showModel},
	{http.MethodPost, "/v1/embeddings", embed},
	{http.MethodGet, "/api/tags", listOllama},
	{http.MethodPost, "/api/show", showOllama},
	{http.MethodGet, "/api/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, obj{"version": "0.0.0-simulated"})
	}},
}

func allProfiles() []model.Profile { return append(slices.Clone(model.Profiles), probe) }

func profileFor(name string) (p model.Profile, ok bool) {
	for _, p := range allProfiles() {
		if name == p.Name || name == p.Served {
			return p, true
		}
	}
	return p, false
}

// modelDate is the date of all models. It depends on no clock.
func modelDate() time.Time { return time.Unix(draws{}.created(), 0).UTC() }

func unknownModel(name string) *failure {
	return &failure{status: http.StatusNotFound, code: "model_not_found", model: clip.Runes(name, 100),
		message: "The model `" + clip.Runes(name, 100) + "` does not exist or you do not have access to it."}
}

func refuseModel(w http.ResponseWriter, wr wire, name string) {
	wr.refuse(w, unknownModel(name), drawsFor(0, "", "", []byte(name)))
}

func openAIModel(p model.Profile) obj {
	return obj{"id": p.Name, "object": "model", "created": draws{}.created(), "owned_by": "simulated"}
}

func anthropicModel(p model.Profile) obj {
	return obj{"type": "model", "id": p.Name, "display_name": p.Name, "created_at": modelDate().Format(time.RFC3339)}
}

// family is the wire of those who ask for models at an address, and the shape that it gives them. OpenAI's
// list and Anthropic's have one address, but only Anthropic's clients send a version.
func family(r *http.Request) (wire, func(model.Profile) obj) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1beta"):
		return gemini, geminiModel
	case r.Header.Get("Anthropic-Version") != "":
		return anthropic, anthropicModel
	}
	return openAI, openAIModel
}

func listModels(w http.ResponseWriter, r *http.Request) {
	wr, shape := family(r)
	data := []obj{}
	for _, p := range allProfiles() {
		data = append(data, shape(p))
	}
	list := obj{"object": "list", "data": data}
	switch wr.name {
	case gemini.name:
		list = obj{"models": data}
	case anthropic.name:
		list = obj{"data": data, "has_more": false, "first_id": data[0]["id"], "last_id": data[len(data)-1]["id"]}
	}
	writeJSON(w, http.StatusOK, list)
}

func showModel(w http.ResponseWriter, r *http.Request) {
	wr, shape := family(r)
	name := r.PathValue("call")
	p, ok := profileFor(name)
	switch {
	case strings.Contains(name, ":"): // a method of Gemini
		notAllowed(w, r)
	case !ok:
		refuseModel(w, wr, name)
	default:
		writeJSON(w, http.StatusOK, shape(p))
	}
}

func geminiModel(p model.Profile) obj {
	return obj{
		"name": "models/" + p.Name, "version": strings.TrimPrefix(p.Served, p.Name+"-"), "displayName": p.Name, "description": "simulated",
		"inputTokenLimit": simulatedWindow, "outputTokenLimit": outputLimit, "supportedGenerationMethods": []string{"generateContent"},
	}
}

// ollamaDetails describe a model's file; the simulated models have none.
var ollamaDetails = obj{"parent_model": "", "format": "simulated", "family": "sim", "families": []string{"sim"}, "parameter_size": "0", "quantization_level": "none"}

func listOllama(w http.ResponseWriter, _ *http.Request) {
	var models []obj
	for _, p := range allProfiles() {
		models = append(models, obj{
			"name": p.Name + ollamaTag, "model": p.Name + ollamaTag, "modified_at": modelDate().Format(time.RFC3339), "size": 0,
			"digest": drawsFor(0, p.Name, "", nil).hash("digest"), "details": ollamaDetails,
		})
	}
	writeJSON(w, http.StatusOK, obj{"models": models})
}

func showOllama(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model, Name string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked)
	asked.Model = cmp.Or(asked.Model, asked.Name) // what older clients send
	p, ok := profileFor(strings.TrimSuffix(asked.Model, ollamaTag))
	switch {
	case err != nil:
		ollama.refuse(w, invalid("", "%s", clip.Runes(err.Error(), 200)), draws{})
	case asked.Model == "":
		ollama.refuse(w, invalid("model", "model is required"), draws{})
	case !ok:
		refuseModel(w, ollama, asked.Model)
	default:
		capabilities := []string{"completion", "tools"}
		if p.Name == Probe {
			capabilities = append(capabilities, "vision", "thinking")
		}
		writeJSON(w, http.StatusOK, obj{
			"modelfile": "# simulated: no file\nFROM " + p.Name, "parameters": "", "template": "{{ .Prompt }}", "license": "", "details": ollamaDetails,
			"model_info":   obj{"general.architecture": "sim", "general.parameter_count": 0, "sim.context_length": simulatedWindow},
			"capabilities": capabilities, "modified_at": modelDate().Format(time.RFC3339),
		})
	}
}

// embed answers with vectors of length 1 that depend on the text alone. Any name of a model will do.
func embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model      string
		Input      json.RawMessage
		Dimensions int
		Format     string `json:"encoding_format"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked)
	if err != nil || !given(asked.Input) || asked.Dimensions < 0 || asked.Dimensions > 4096 {
		openAI.refuse(w, invalid("input", "Invalid 'input': texts are required, and at most 4096 'dimensions'."), draws{})
		return
	}
	var inputs []json.RawMessage
	if json.Unmarshal(asked.Input, &inputs) != nil || len(inputs) == 0 || !strings.ContainsAny(string(inputs[0][:1]), `"[`) { // one text, or the tokens of one
		inputs = []json.RawMessage{asked.Input}
	}
	used, data := 0, []obj{}
	for i, input := range inputs {
		random := rand.New(rand.NewChaCha8(drawsFor(0, "embedding", "", input).digest))
		numbers, square := make([]float64, cmp.Or(asked.Dimensions, 256)), 0.0
		for j := range numbers {
			numbers[j] = random.NormFloat64()
			square += numbers[j] * numbers[j]
		}
		var packed []byte
		for j := range numbers {
			numbers[j] /= math.Sqrt(square)
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(float32(numbers[j])))
		}
		used += model.Tokens(string(input))
		data = append(data, obj{"object": "embedding", "index": i, "embedding": map[bool]any{true: packed, false: numbers}[asked.Format == "base64"]})
	}
	writeJSON(w, http.StatusOK, obj{"object": "list", "model": asked.Model, "data": data, "usage": obj{"prompt_tokens": used, "total_tokens": used}})
}
