package dlpack

// The names under which Python objects carry records (R8, R36, R50). They are compared byte by byte.
const (
	CapsuleLegacy        = "dltensor"                // a ManagedTensor that nobody has taken yet
	CapsuleLegacyUsed    = "used_dltensor"           // one that somebody has taken
	CapsuleVersioned     = "dltensor_versioned"      // a ManagedTensorVersioned that nobody has taken yet
	CapsuleVersionedUsed = "used_dltensor_versioned" // one that somebody has taken

	ExchangeCapsule = "dlpack_exchange_api"       // a capsule that holds an ExchangeAPI
	ExchangeAttr    = "__dlpack_c_exchange_api__" // the attribute of a type where DLPack 1.3 puts that capsule
	ExchangeAttrInt = "__c_dlpack_exchange_api__" // where DLPack 1.2 puts the table's address as an int
)
