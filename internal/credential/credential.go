// Package credential knows the names of query parameters that have credentials.
package credential

import "strings"

var separators = strings.NewReplacer("-", "", "_", "")

// Param reports whether a query parameter has a credential or a signature, by its unescaped name.
// Case, hyphens and underscores do not matter.
func Param(name string) bool {
	switch separators.Replace(strings.ToLower(name)) {
	case "key", "apikey", "accesskey", "accesstoken", "accesskeyid", "awsaccesskeyid", "token", "idtoken",
		"refreshtoken", "auth", "authorization", "signature", "sig", "secret", "clientsecret", "password",
		"xamzsignature", "xamzcredential", "xamzsecuritytoken", "xamzdate", "xgoogsignature", "xgoogcredential":
		return true
	}
	return false
}
