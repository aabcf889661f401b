"""What tests share. Each module has the noun that it is named after."""
